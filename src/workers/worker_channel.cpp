// SPDX-License-Identifier: BSD-3-Clause
#include "workers/worker_channel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using Kind = WorkerMessage::Kind;

bool is_packet_socket(int number) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

} // namespace

WorkerChannel::WorkerChannel(os::Descriptor socket, int ctest, bool shares_errors, std::string page,
                             std::string why_started)
    : socket_{os::out_of_the_way(std::move(socket))}, null_{os::out_of_the_way(
                                                          os::Descriptor{::open("/dev/null", O_RDWR | O_CLOEXEC)})},
      output_{os::out_of_the_way(os::Descriptor{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)})},
      ctest_{ctest}, shares_errors_{shares_errors}, page_{std::move(page)}, why_started_{std::move(why_started)} {
  ::fcntl(socket_.number(), F_SETFD, FD_CLOEXEC);
}

std::optional<WorkerChannel> WorkerChannel::open(const std::string& text) {
  const auto version = std::to_string(worker_protocol) + ":";
  if (text.compare(0, version.size(), version) != 0) {
    return std::nullopt;
  }
  char* rest = nullptr;
  const int number = static_cast<int>(std::strtol(text.c_str() + version.size(), &rest, 10));
  const int ctest = *rest == ':' ? static_cast<int>(std::strtol(rest + 1, &rest, 10)) : 0;
  const std::string option{rest};
  const auto page = std::min(option.find(':', 1), option.size());
  const auto why = std::min(option.find(':', page + 1), option.size());
  if (number <= STDERR_FILENO || !is_packet_socket(number)) {
    return std::nullopt;
  }
  return WorkerChannel{os::Descriptor{number}, ctest, option.rfind(":shared", 0) == 0,
                       page == option.size() ? "" : option.substr(page + 1, why - page - 1),
                       why == option.size() ? "" : option.substr(why + 1)};
}

void WorkerChannel::tell_ready() const { static_cast<void>(send_message(socket_.number(), {})); }

bool WorkerChannel::wait_for(std::chrono::milliseconds time) const {
  pollfd event{socket_.number(), POLLIN, 0};
  return ::poll(&event, 1, static_cast<int>(time.count())) > 0;
}

std::optional<WorkerJob> WorkerChannel::receive(std::optional<int> leave) const {
  std::array<pollfd, 2> events{{{socket_.number(), POLLIN, 0}, {leave.value_or(-1), POLLIN, 0}}};
  while (::poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {
  }
  WorkerMessage message;
  if (events[1].revents != 0 || receive_message(socket_.number(), message) != Received::message ||
      message.kind != Kind::job || message.texts.size() < 2 || message.descriptors.size() != 3) {
    return std::nullopt;
  }
  return WorkerJob{message.texts[0],
                   message.texts[1],
                   {message.texts.begin() + 2, message.texts.end()},
                   std::move(message.descriptors)};
}

void WorkerChannel::begin(const WorkerJob& job) const {
  static_cast<void>(send_message(socket_.number(), {{Kind::begun}, {}, {}}));
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    ::dup2(job.streams[static_cast<std::size_t>(stream)].number(), stream);
  }
}

void WorkerChannel::hang_up() { socket_ = os::Descriptor{}; }

void WorkerChannel::drop_streams() const {
  ::dup2(null_.number(), STDIN_FILENO);
  ::dup2(output_.number(), STDOUT_FILENO);
  ::dup2(output_.number(), STDERR_FILENO);
}

bool WorkerChannel::tell_verdict(int exit_code, const std::string& why_last, WorkerMessage::Device device) const {
  WorkerMessage message;
  message.kind = Kind::verdict;
  message.code = exit_code;
  message.device = device;
  if (!why_last.empty()) {
    message.texts = {why_last};
  }
  return is_packet_socket(socket_.number()) && send_message(socket_.number(), message);
}

void WorkerChannel::ask_for_own_process(const std::string& why) const {
  static_cast<void>(send_message(socket_.number(), {{Kind::own_process}, {why}, {}}));
}

} // namespace gputest::workers
