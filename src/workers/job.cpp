// SPDX-License-Identifier: BSD-3-Clause
#include "workers/job.hpp"

#include "workers/test_case.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

constexpr milliseconds without_watch{20};       ///< after which it is looked for jobs again
constexpr milliseconds longest_handover{1'000}; ///< a client that is stopped keeps no worker from other cases

constexpr const char* job = "job-"; ///< what the name of a job begins with

/// False if the job is nobody's any more, or another supervisor is before this one.
bool take(const MeetingPlace& place, const std::string& name, Job& taken) {
  taken.client = Descriptor{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const auto address = address_in(place.key_folder, name);
  if (::connect(taken.client.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) { // NOLINT
    if (errno == ECONNREFUSED) { // its client is gone; one that is there listens before the name is
      ::unlinkat(place.key_folder.number(), name.c_str(), 0);
    }
    return false;
  }
  // Either the client takes this connection and speaks, or it takes another one and closes this one.
  supervise::Events events;
  events.add(taken.client).add(place.ctest);
  if (!events.wait(longest_handover)) {
    static_cast<void>(send_message(taken.client.number(), {{WorkerMessage::Kind::not_begun}, {}, {}}));
    return false;
  }
  const auto& request = taken.request;
  return !events.is_ready(1) && receive_message(taken.client.number(), taken.request) == Received::message &&
         request.kind == WorkerMessage::Kind::job && request.texts.size() >= 3 && request.descriptors.size() == 3;
}

} // namespace

Descriptor announce_job(const Descriptor& folder, std::string& name) {
  const auto time = std::to_string(std::chrono::nanoseconds{Clock::now().time_since_epoch()}.count());
  name = job + std::string(20 - time.size(), '0') + time + "-" + std::to_string(::getpid());
  Descriptor socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  const auto first = "new-" + name; // a supervisor takes a name without a listener for one that was left behind
  const auto address = address_in(folder, first);
  std::optional<WithoutUmask> modes; // who connects to a socket has to be able to write to it
  if (umask_is_for_owner()) {
    modes.emplace();
  }
  const bool is_announced =
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && // NOLINT
      ::listen(socket.number(), 1) == 0 &&
      ::renameat(folder.number(), first.c_str(), folder.number(), name.c_str()) == 0;
  return is_announced ? std::move(socket) : Descriptor{};
}

JobQueue::JobQueue(const MeetingPlace& place) : place_{place}, changes_{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)} {
  const auto folder = "/proc/self/fd/" + std::to_string(place_.key_folder.number());
  if (::inotify_add_watch(changes_.number(), folder.c_str(), IN_MOVED_TO) < 0) {
    changes_ = Descriptor{};
  }
}

bool JobQueue::take_oldest(Job& taken) const {
  auto names = names_in(place_.key_folder);
  std::sort(names.begin(), names.end());
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& name) { return name.rfind(job, 0) == 0 && take(place_, name, taken); });
}

void JobQueue::forget_changes() const {
  std::array<char, 4096> block{};
  while (::read(changes_.number(), block.data(), block.size()) > 0) {
  }
}

void JobQueue::wait(supervise::Events& events, milliseconds limit) const {
  events.add(changes_).wait(changes_ ? limit : without_watch);
}

} // namespace gputest::workers
