// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/mpi_rank.hpp"
#include "core/policy/report_target.hpp"
#include "core/policy/simulated_devices.hpp"
#include "core/policy/verdict.hpp"

#include <gputest/settings.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gputest::settings {

/// All GPUs that CUDA_VISIBLE_DEVICES allows.
struct AllDevices {};

/// No GPU, as on a machine without one.
struct NoDevices {};

using DevicesSetting = std::variant<AllDevices, NoDevices, policy::SimulatedDevices>;

using policy::ReadVariable;

/// The name of the entry, also if other settings cannot be used.
[[nodiscard]] std::string parse_entry_name(const ReadVariable& read);

/// Whether the command of `gputest run --if-gpu` uses a GPU, from GPUTEST_USES_GPU.
enum class UsesGpu { automatic, yes, no };

/// Reads `auto`, `yes` or `no`. Throws InvalidSetting.
[[nodiscard]] UsesGpu parse_uses_gpu(const ReadVariable& read);

/// Reads GPUTEST_TIMEOUT. nullopt if it is not set or empty. Throws InvalidSetting.
[[nodiscard]] std::optional<policy::TimeLimit> parse_time_limit(const ReadVariable& read);

/// Settings::lease_of where the variable names no holder.
inline constexpr const char* lease_above = "above";

/// What settings_from_environment() does, with an environment of the caller's.
[[nodiscard]] Settings parse_settings(const ReadVariable& read);

/// What entry_from_environment() does, with an environment of the caller's.
[[nodiscard]] Entry parse_entry(const ReadVariable& read);

/// The names of the variables that say what ctest has allocated of the resource types `gpus` (CTest's manual, RAPIDS)
/// and `cudagpu` (Ginkgo), by groups. A group may have other types only. None if ctest has allocated nothing.
[[nodiscard]] std::vector<std::string> variables_of_allocation(const ReadVariable& read);

/// GPUTEST_ALLOCATION for these values of them, whose numbers count these devices.
[[nodiscard]] std::string allocation_text(const std::vector<std::string>& groups,
                                          const std::vector<std::string>& uuids);

/// What makes a process run one case after another.
struct WorkerRequest {
  /// GPUTEST_WORKER: `<version>:<supervisor's socket>:<ctest's pid>:<shared|own>:<supervisor's page>:<why started>`.
  std::string channel;
  std::vector<std::string> cases; ///< GPUTEST_CASES: filters, one after another
};

/// Reads GPUTEST_WORKER and GPUTEST_CASES, `Suite.first;Suite.second`.
[[nodiscard]] WorkerRequest parse_worker(const ReadVariable& read);

/// The folder for run logs that GPUTEST_LOG names; nullopt if it names none. Throws InvalidSetting.
[[nodiscard]] std::optional<std::string> chosen_log_folder();

/// The value of GPUTEST_LIST_FILE; nullopt if it is not set or empty.
[[nodiscard]] std::optional<std::string> test_list_file();

/// Reads `all`, `none` or `simulated:<n>x<size>[,<option>...]`, with 1 to 16 devices. Throws InvalidSetting.
[[nodiscard]] DevicesSetting parse_devices(const std::string& text);

/// The ledger's folder: empty, or an absolute path. Throws InvalidSetting naming `what`.
void check_folder(const std::string& folder, const std::string& what);

/// parse_request() for a value beside which `auto` and `none` are known, too. Throws InvalidSetting, which names these.
[[nodiscard]] Request parse_memory(std::string_view text, std::string_view what);

/// Reads `90s`, `20min` or `1h`, at most 24 h. Throws InvalidSetting naming `what`.
[[nodiscard]] std::chrono::seconds parse_duration(const std::string& text, const std::string& what);

/// What restricts this process to some of the machine's `devices`: CUDA_VISIBLE_DEVICES, by the user or a batch system,
/// or else what Slurm says of the job. nullopt if nothing does. Pure.
///
/// Slurm's lists number the whole machine, which is useful only if more devices are visible than they name; fewer are
/// visible if Slurm hides the others.
[[nodiscard]] std::optional<DeviceRestriction> restriction_of(const Settings& settings, std::size_t devices);

/// The settings of this process: those of its Session, else those of its environment as it is now. Thread-safe. Throws
/// InvalidSetting.
[[nodiscard]] Settings of_process();

/// Makes these the settings of this process, for what works with and without a Session: simulated and resource memory.
void set_for_process(const Settings& settings);

/// Who sets a setting.
enum class SetBy {
  user,
  entry,   ///< gpu_add_test() and gpu_discover_tests() for their tests: what the user says belongs there
  gputest, ///< for its own processes
};

/// An environment variable that gputest reads, of those that begin with GPUTEST_.
struct Setting {
  const char* name;
  const char* values;   ///< with `|` between them: it is one of these words, and the first if it is not set
  const char* fallback; ///< what holds if it is not set
  const char* meaning;
  SetBy by;
};

/// All of them: what nothing here names is no setting.
[[nodiscard]] const std::vector<Setting>& settings_table();

/// The words that a setting can be; none if it is no word.
[[nodiscard]] std::vector<std::string> words_of(const Setting& setting);

/// The position of `text` among the words of the setting `name`; 0 if it is empty. Throws InvalidSetting.
[[nodiscard]] std::size_t parse_word(const std::string& name, const std::string& text);

/// The table as text, for manuals.
[[nodiscard]] std::string settings_reference();

/// Refuses names that begin with GPUTEST_ and that nothing reads, because a mistyped setting would be ignored.
/// Variables of gputest's CMake project are no settings, and are accepted. Throws InvalidSetting that names each of
/// them with the nearest setting. Pure.
void refuse_unknown(const std::vector<std::string>& names);

/// The same for the names of this process's environment.
void refuse_unknown_variables();

/// Takes back what an entry has set in the environment for the command that has started this process's ctest: a test of
/// that ctest that is no entry itself has inherited it, and it is not said of it. What the ctest of that entry had
/// holds again. But for the parent lease, which holds for all below. Looks once, as TestRun and Session do before they
/// read anything. Not while other threads read the environment.
void forget_entry_above_ctest();

} // namespace gputest::settings
