// SPDX-License-Identifier: BSD-3-Clause
#include "tool/resource_spec_command.hpp"

#include "core/os/ctest_process.hpp"
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/settings/settings.hpp"
#include "tool/devices_command.hpp"
#include "tool/resource_spec.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace gputest::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "resource-spec-";

/// Which ctest a file is for. Several machines and containers may share a build tree, and so pids.
struct CtestProcess {
  std::uint64_t pids = 0; ///< os::pids_identity()
  pid_t pid = 0;
  std::uint64_t start_time = 0;
};

CtestProcess parent() {
  const auto pid = os::parent_of(os::own_pid()).value_or(0);
  return {os::pids_identity(), pid, os::start_time_of(pid).value_or(0)};
}

std::string file_of(const CtestProcess& ctest) {
  return fmt::format("{}{:x}-{}-{}.json", prefix, ctest.pids, ctest.pid, ctest.start_time);
}

/// nullopt for a name that file_of() has not made.
std::optional<CtestProcess> ctest_of(const std::string& file) {
  CtestProcess ctest;
  std::istringstream text{file.substr(prefix.size())};
  char first = 0;
  char second = 0;
  text >> std::hex >> ctest.pids >> first >> std::dec >> ctest.pid >> second >> ctest.start_time;
  return text && first == '-' && second == '-' ? std::optional{ctest} : std::nullopt;
}

/// Whether nobody reads the file any more. Whether a ctest elsewhere has ended cannot be known, but ctest reads its
/// file within seconds.
bool is_left_over(const fs::directory_entry& file) {
  const auto ctest = ctest_of(file.path().filename().string());
  if (ctest && ctest->pids != 0 && ctest->pids == os::pids_identity()) {
    return os::start_time_of(ctest->pid) != ctest->start_time;
  }
  std::error_code ignored;
  return fs::file_time_type::clock::now() - file.last_write_time(ignored) > std::chrono::minutes{10};
}

void remove_left_over_files(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator{folder, ignored}) {
    if (file.path().filename().string().compare(0, prefix.size(), prefix) == 0 && is_left_over(file)) {
      fs::remove(file.path(), ignored);
    }
  }
}

void replace_file(const fs::path& file, const std::string& text) {
  const fs::path new_file = file.string() + "." + std::to_string(os::own_pid());
  {
    std::ofstream out{new_file};
    out << text;
    out.close();
    if (!out) {
      throw fs::filesystem_error{"it cannot be written", new_file, std::make_error_code(std::errc::io_error)};
    }
  }
  fs::rename(new_file, file);
}

} // namespace

ExitCode resource_spec_command(const std::string& folder) {
  const auto settings = settings_from_environment();
  const auto scheduling = settings::parse_scheduling(os::read_variable);
  const auto users =
      scheduling == settings::Scheduling::ledger ? os::UsersResourceSpec::named : os::find_users_resource_spec();
  if (users == os::UsersResourceSpec::named ||
      (users == os::UsersResourceSpec::possible && scheduling != settings::Scheduling::ctest)) {
    return ExitCode::done;
  }
  const auto report = look_at_devices(settings, devices::AskDriver::no);
  const auto text = resource_spec(report);
  if (text.empty()) {
    return ExitCode::done;
  }
  const auto file = file_of(parent());
  fs::create_directories(folder);
  remove_left_over_files(folder);
  replace_file(fs::path{folder} / file, text);
  fmt::print("{}", resource_facts(report, file));
  return ExitCode::done;
}

} // namespace gputest::tool
