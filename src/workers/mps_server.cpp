// SPDX-License-Identifier: BSD-3-Clause
#include "workers/mps_server.hpp"

#include "workers/mps_daemon.hpp"
#include "workers/test_case.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

constexpr int most_servers = 3; ///< of one run: a suite that has so many errors gains nothing
/// In the folder of a run: why its workers use no server any more.
constexpr const char* given_up = "without-mps";

std::string name_of(int number) { return "mps-" + std::to_string(number); }

bool is_replaced(const Descriptor& run, int number) { return is_there(run, name_of(number) + "/replaced"); }

/// Whether the run has had a server.
bool has_begun(const Descriptor& run) { return is_there(run, name_of(0)); }

/// The first server that has not been replaced; most_servers: none of them.
int first_server(const Descriptor& run) {
  int number = 0;
  while (number < most_servers && is_replaced(run, number)) {
    ++number;
  }
  return is_there(run, given_up) ? most_servers : number;
}

/// Whether CUDA would connect to a control daemon of the user's, or of the machine's. Anybody can make the folder that
/// is CUDA's default.
bool has_daemon_of_user() {
  const auto path = variable("CUDA_MPS_PIPE_DIRECTORY");
  const auto* const usual = "/tmp/nvidia-mps"; // CUDA's default
  const Descriptor folder{::open(path.empty() ? usual : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  struct stat control {};
  return folder && ::fstatat(folder.number(), "control", &control, AT_SYMLINK_NOFOLLOW) == 0 &&
         (control.st_uid == ::geteuid() || control.st_uid == 0) && has_mps_daemon(folder);
}

/// How many cases of the run are running or waiting now.
std::size_t count_cases(const RunFolder& run) {
  std::size_t count = 0;
  for (const auto& name : names_in(run.run)) {
    const auto folder = open_own_folder(run.run.number(), name.c_str());
    count += folder && is_there(folder, "cases") ? count_marked(folder, "cases") : 0;
  }
  return count;
}

/// Why this worker should have no server of the run's own; empty: no reason.
std::string reason_against(bool is_asked_for) {
  if (!variable("CUDA_MPS_PIPE_DIRECTORY").empty()) {
    return "CUDA_MPS_PIPE_DIRECTORY is set, and there is no control daemon";
  }
  if (variable("CUDA_VISIBLE_DEVICES").find("MIG-") != std::string::npos) {
    return "CUDA_VISIBLE_DEVICES has slices of a device (MIG)";
  }
  if (mps_control_program().empty()) {
    return "nvidia-cuda-mps-control is not in PATH";
  }
  const auto devices = variable("GPUTEST_DEVICES");
  return is_asked_for || devices.empty() || devices == "all" ? "" : "GPUTEST_DEVICES=" + devices;
}

} // namespace

MpsServer MpsServer::join(const RunFolder& run) {
  MpsServer server;
  const auto setting = variable("GPUTEST_MPS");
  if (has_daemon_of_user()) {
    server.number_ = mps_server_of_user;
    return server;
  }
  if (setting == "off") {
    return server;
  }
  if (const auto why = reason_against(setting == "on"); !why.empty()) {
    server.message_ = setting == "on" ? "GPUTEST_MPS=on, but workers use no MPS here: " + why : "";
    return server;
  }
  server.may_have_one_ = true;
  if (setting != "on" && !has_begun(run.run) && count_cases(run) < 2) {
    return server; // a single process gains nothing
  }
  const int number = first_server(run.run);
  if (number == most_servers) {
    const auto why = contents_of(run.run, given_up);
    server.message_ =
        "workers use no MPS any more: " +
        (why.empty() ? std::to_string(most_servers) + " times a process that used it had an error or died" : why);
    return server;
  }
  const auto name = name_of(number);
  ::mkdirat(run.run.number(), name.c_str(), 0700);
  const MpsDaemon daemon{run.path.substr(0, run.path.rfind('/')) + "/" + name,
                         open_own_folder(run.run.number(), name.c_str())};
  Marked client{daemon.folder, "clients"};
  if (const auto why = start_mps_daemon(run, daemon); !why.empty()) {
    write_file(run.run, given_up, why);
    server.message_ = "workers use no MPS: " + why;
    return server;
  }
  server.number_ = number;
  server.path_ = daemon.path;
  server.client_ = std::move(client);
  return server;
}

bool MpsServer::is_replaced(const RunFolder& run) const {
  if (!may_have_one_ || !has_begun(run.run)) {
    return false;
  }
  const int number = first_server(run.run);
  return number_ != (number == most_servers ? no_mps_server : number);
}

void replace_mps_server(const RunFolder& run, int number) {
  if (number >= 0) {
    const auto folder = open_own_folder(run.run.number(), name_of(number).c_str());
    const Descriptor file{::openat(folder.number(), "replaced", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  }
}

bool uses_mps_servers(const Descriptor& run) { return has_begun(run) && !is_there(run, given_up); }

} // namespace gputest::workers
