// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>
#include <gputest/memory_class.hpp>
#include <gputest/memory_kind.hpp>
#include <gputest/request.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gputest {

/// How ctest runs the tests, if the user sets it (GPUTEST_RUN_MODE).
enum class RunModeSetting { automatic, serial, parallel };

/// Which skips are failures (GPUTEST_FORBID_SKIP).
enum class ForbidSkip {
  no,      ///< none
  machine, ///< those because of the machine: no GPU, too few of them, too little memory, a missing capability
  all,     ///< also those because of the run, such as a large test beside others
};

/// What measures the memory that tests use (GPUTEST_METER).
enum class MeterSetting {
  automatic, ///< what sees every allocation if there is such a meter, else samples
  sampled,   ///< the device is asked from time to time
  off,       ///< nothing
};

/// What happens to a test that takes more than its lease, or leaves memory allocated (GPUTEST_OVERUSE, GPUTEST_LEAKS).
enum class Consequence {
  automatic, ///< it fails in an entry of CTest's, else it is a warning
  fail,
  warn,
  off,  ///< nothing is said
  stop, ///< GPUTEST_OVERUSE only: the process ends before it takes more, where each allocation is seen, and
        ///< GoogleTest's or Catch2's tests run; else as `fail`
};

/// A list of devices in the form of CUDA_VISIBLE_DEVICES, and the variable that contains it.
struct DeviceRestriction {
  std::string variable; ///< for messages: `CUDA_VISIBLE_DEVICES`
  std::string value;    ///< `0,1`, or UUIDs
};

/// The rank of a process of an MPI program.
struct MpiRank {
  int local_rank = 0;  ///< among the ranks of its machine, from 0
  int local_size = 1;  ///< ranks on its machine; those of the whole world if the number is not known
  std::string because; ///< what shows it: `OMPI_COMM_WORLD_LOCAL_RANK=1`
};

/// The settings of a whole process: the machine, the run, and what its ancestors have decided for it.
///
/// A default-constructed object uses all GPUs. settings_from_environment() fills one from the environment. Nothing else
/// of gputest reads a setting from the environment in a process that has a Session.
struct Settings {
  std::string devices = "all";        ///< `all`, `none`, or `simulated:<n>x<size>[,<option>...]`
  std::optional<Bytes> device_memory; ///< decide as on devices with at most this much
  int processes_per_device = 0;       ///< at most so many may be on a GPU at once; 0: as many as fit
  std::string folder; ///< of the ledger, an absolute path; empty: the shared one of this machine, or this user's own
  std::optional<MemoryKind> memory_resource; ///< the kind for memory resources; nullopt: the best that the device can
  RunModeSetting run_mode = RunModeSetting::automatic;
  bool require_gpu = false;                ///< a skip because there is no GPU, or too few, is a failure
  ForbidSkip forbid_skip = ForbidSkip::no; ///< which skips are failures; `machine` and `all` include require_gpu

  std::optional<DeviceRestriction> visible_devices; ///< CUDA_VISIBLE_DEVICES; nullopt if it is not set
  std::optional<DeviceRestriction> job_devices;     ///< Slurm's list for the job, used if visible_devices is not set
  std::optional<std::string> resource_group_count;  ///< CTest's own allocation: CTEST_RESOURCE_GROUP_COUNT
  std::vector<std::string> resource_groups;         ///< CTEST_RESOURCE_GROUP_<i>_GPUS, or _CUDAGPU
  /// The devices that the numbers there count, if a process above has chosen of them (GPUTEST_ALLOCATION); empty: those
  /// of visible_devices or job_devices.
  std::vector<std::string> allocation_counts;
  std::optional<MpiRank> rank; ///< nullopt if the process is not a rank
  /// The holder of the parent lease, from GPUTEST_LEASE_OF; empty: there is none. `above` is any process above this one
  /// that holds a lease: something between the two may have cleared the environment.
  std::string lease_of;
  MeterSetting meter = MeterSetting::automatic;
  std::string cuda_folder; ///< of the CUDA Toolkit, searched for CUPTI: CUDA_HOME, or CUDA_PATH; may be empty
  Consequence overuse = Consequence::automatic;
  Consequence leaks = Consequence::automatic;
  /// Folder of the run logs; empty: none. A relative one is in the folder where the ctest above this process runs.
  std::string log;
  std::string profiler; ///< CUDA_INJECTION64_PATH: another tool that may need CUPTI
};

/// What gpu_add_test() says of one CTest entry.
struct Entry {
  std::string name; ///< CTest's name of the test; empty if there is none
  Request request;  ///< of tests that say nothing themselves
  LargePolicy large = LargePolicy::exclude;
  /// The longest wait. CTest ends a test after 1500 s by default. The default here is shorter, so that the error that
  /// names the holder comes first.
  std::chrono::seconds wait_limit = std::chrono::minutes{20};
  bool no_gpu = false;      ///< tests that say nothing use no GPU: MEMORY none
  bool no_gpu_seen = false; ///< nobody has said so: the executable names no library of GPUs
};

/// Reads the settings from the environment variables that `gputest --help` lists, and from those of CUDA, CTest, Slurm
/// and MPI launchers. Throws InvalidSetting, naming the variable, its value, what is allowed and an example; and for a
/// variable that begins with GPUTEST_ and is none of gputest's, naming the nearest one.
[[nodiscard]] Settings settings_from_environment();

/// Reads what gpu_add_test() has put into the environment of its test. Throws InvalidSetting.
[[nodiscard]] Entry entry_from_environment();

} // namespace gputest
