// SPDX-License-Identifier: BSD-3-Clause
#include "workers/worker_message.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

namespace gputest::workers {

namespace {

constexpr std::size_t most_descriptors = 4;
constexpr std::size_t largest_packet =
    192 * 1024; // below the default size of a socket's buffer (net.core.wmem_default)

union Control {
  cmsghdr alignment;
  std::array<char, CMSG_SPACE(sizeof(int) * most_descriptors)> bytes;
};

} // namespace

bool send_message(int socket, const WorkerMessage& message, const std::vector<int>& descriptors) {
  MessageHead head = message;
  head.count = static_cast<std::uint32_t>(message.texts.size());
  std::string packet(sizeof head, '\0');
  std::memcpy(packet.data(), &head, sizeof head);
  for (const auto& text : message.texts) {
    packet += text;
    packet += '\0';
  }
  if (packet.size() > largest_packet || descriptors.size() > most_descriptors) {
    return false;
  }
  iovec part{packet.data(), packet.size()};
  Control control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const auto size = sizeof(int) * descriptors.size();
    header.msg_control = control.bytes.data();
    header.msg_controllen = CMSG_SPACE(size);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), size);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

Received receive_message(int socket, WorkerMessage& message, bool wait) {
  static std::array<char, largest_packet> packet; // not on the stack: the caller may be a test's thread
  iovec part{packet.data(), packet.size()};
  Control control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) {
    return Received::nothing;
  }
  message = {};
  for (cmsghdr* rights = count < 0 ? nullptr : CMSG_FIRSTHDR(&header); rights != nullptr;
       rights = CMSG_NXTHDR(&header, rights)) {
    if (rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= rights->cmsg_len; at += sizeof(int)) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(rights) + (at - CMSG_LEN(0)), sizeof number);
        message.descriptors.emplace_back(number);
      }
    }
  }
  MessageHead& head = message;
  if (count < static_cast<ssize_t>(sizeof head) || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Received::end;
  }
  std::memcpy(&head, packet.data(), sizeof head);
  std::size_t at = sizeof head;
  const auto size = static_cast<std::size_t>(count);
  while (message.texts.size() < head.count) {
    const auto* const end =
        at < size ? static_cast<const char*>(std::memchr(packet.data() + at, 0, size - at)) : nullptr;
    if (end == nullptr) {
      return Received::end;
    }
    message.texts.emplace_back(packet.data() + at, static_cast<std::size_t>(end - packet.data()) - at);
    at += message.texts.back().size() + 1;
  }
  return Received::message;
}

} // namespace gputest::workers
