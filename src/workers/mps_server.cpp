// SPDX-License-Identifier: BSD-3-Clause
#include "workers/mps_server.hpp"

#include "core/os/environment.hpp"
#include "workers/mps_daemon.hpp"

#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

constexpr const char* server = "mps";            ///< its folder in that of the run
constexpr const char* given_up = "mps/given_up"; ///< as mps_daemon.hpp says

/// Whether CUDA would connect to a control daemon of the user's, or of the machine's. Anybody can make the folder that
/// is CUDA's default.
bool has_daemon_of_user() {
  const auto path = os::variable("CUDA_MPS_PIPE_DIRECTORY");
  const auto* const usual = "/tmp/nvidia-mps"; // CUDA's default
  const Descriptor folder{::open(path.empty() ? usual : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  struct stat control {};
  return folder && ::fstatat(folder.number(), "control", &control, AT_SYMLINK_NOFOLLOW) == 0 &&
         (control.st_uid == ::geteuid() || control.st_uid == 0) && has_mps_daemon(folder);
}

/// Why this worker should have no server of the run's own; empty: no reason.
std::string reason_against(bool is_asked_for) {
  if (!os::variable("CUDA_MPS_PIPE_DIRECTORY").empty()) {
    return "CUDA_MPS_PIPE_DIRECTORY is set, and there is no control daemon";
  }
  if (os::variable("CUDA_VISIBLE_DEVICES").find("MIG-") != std::string::npos) {
    return "CUDA_VISIBLE_DEVICES has slices of a device (MIG)";
  }
  if (mps_control_program().empty()) {
    return "nvidia-cuda-mps-control is not in PATH";
  }
  const auto devices = os::variable("GPUTEST_DEVICES");
  return is_asked_for || devices.empty() || devices == "all" ? "" : "GPUTEST_DEVICES=" + devices;
}

} // namespace

MpsServer MpsServer::join(const MeetingPlace& place) {
  MpsServer joined;
  const auto setting = os::variable("GPUTEST_MPS");
  if (has_daemon_of_user()) {
    joined.owner_ = Mps::of_user;
    return joined;
  }
  if (setting == "off") {
    return joined;
  }
  if (const auto why = reason_against(setting == "on"); !why.empty()) {
    joined.message_ = setting == "on" ? "GPUTEST_MPS=on, but workers use no MPS here: " + why : "";
    return joined;
  }
  joined.may_have_one_ = true;
  if (setting != "on" && !is_there(place.run_folder, server) && count_cases(place.run_folder) < 2) {
    return joined; // a single process gains nothing
  }
  if (is_there(place.run_folder, given_up)) {
    const auto why = contents_of(place.run_folder, given_up);
    joined.message_ =
        "workers use no MPS any more: " + (why.empty() ? "a process that used it had an error or died" : why);
    return joined;
  }
  const MpsDaemon daemon{place.path.substr(0, place.path.rfind('/')) + "/" + server,
                         make_folder(place.run_folder.number(), server)};
  PresenceLock client{daemon.folder, "clients"};
  if (const auto why = start_mps_daemon(place, daemon); !why.empty()) {
    write_file(daemon.folder, "given_up", why);
    joined.message_ = "workers use no MPS: " + why;
    return joined;
  }
  joined.owner_ = Mps::of_run;
  joined.path_ = daemon.path;
  joined.client_ = std::move(client);
  return joined;
}

bool MpsServer::is_outdated(const MeetingPlace& place) const {
  return may_have_one_ && is_there(place.run_folder, server) &&
         owner_ != (is_there(place.run_folder, given_up) ? Mps::none : Mps::of_run);
}

void give_up_mps_server(const MeetingPlace& place, Mps owner) {
  if (owner == Mps::of_run) {
    const auto folder = open_folder(place.run_folder.number(), server);
    const WithoutUmask modes;
    const Descriptor file{::openat(folder.number(), "given_up", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
  }
}

void blame_for_shared_errors(const MeetingPlace& place, Mps owner) {
  if (owner != Mps::none) {
    write_file(place.run_folder, own_error, "");
  }
}

bool has_used_mps_server(const Descriptor& run) { return is_there(run, server) && contents_of(run, given_up).empty(); }

} // namespace gputest::workers
