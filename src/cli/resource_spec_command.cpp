// SPDX-License-Identifier: BSD-3-Clause
#include "cli/resource_spec_command.hpp"

#include "cli/devices_command.hpp"
#include "cli/resource_spec.hpp"
#include "platform/ctest_process.hpp"
#include "platform/environment.hpp"
#include "platform/process.hpp"
#include "settings/settings.hpp"

#include <gputest/error.hpp>
#include <gputest/settings.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace gputest::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "resource-spec-";

/// The pid is followed by no other digit in a name, so strtol() ends there.
pid_t pid_in(const std::string& name) {
  return static_cast<pid_t>(std::strtol(name.c_str() + prefix.size(), nullptr, 10)); // NOLINT: bounded by c_str()
}

/// Another container's ctest looks as if it had ended, but reads its file within seconds.
void remove_old_files(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator{folder, ignored}) {
    const auto name = file.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) == 0 && !platform::exists(pid_in(name)) &&
        fs::file_time_type::clock::now() - file.last_write_time(ignored) > std::chrono::minutes{10}) {
      fs::remove(file.path(), ignored);
    }
  }
}

void replace_file(const fs::path& file, const std::string& text) {
  const fs::path new_file = file.string() + "." + std::to_string(platform::own_pid());
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
  const auto scheduling = settings::parse_scheduling(platform::read_variable);
  const auto users = scheduling == settings::Scheduling::ledger ? platform::UsersResourceSpec::named
                                                                : platform::find_users_resource_spec();
  if (users == platform::UsersResourceSpec::named ||
      (users == platform::UsersResourceSpec::possible && scheduling != settings::Scheduling::ctest)) {
    return ExitCode::done;
  }
  const auto report = look_at_devices(settings, backend::AskDriver::no);
  const auto text = resource_spec(report);
  if (text.empty()) {
    return ExitCode::done;
  }
  const auto pid = platform::parent_of(platform::own_pid()).value_or(0);
  const auto file = fmt::format("{}{}.json", prefix, pid);
  fs::create_directories(folder);
  remove_old_files(folder);
  replace_file(fs::path{folder} / file, text);
  fmt::print("{}", resource_facts(report, file));
  return ExitCode::done;
}

} // namespace gputest::cli
