// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputest::workers {

/// Whose server of MPS (CUDA's Multi-Process Service) a worker is a client of.
enum class Mps : std::uint32_t { none, of_run, of_user };

/// What all messages between a client, a supervisor and a worker begin with.
struct MessageHead {
  enum class Kind : std::uint32_t {
    ready = 1, ///< worker: it waits for its first case
    job,       ///< client: a case to run in at most `code` milliseconds. Texts: filter, report, then
               ///< variables, of which the last is the page of its entry.
               ///< Descriptors: the standard streams
    verdict,   ///< worker: the case has ended. `code` is its exit code; text: why the worker ends after it, if it does.
               ///< From the supervisor the text names processes that the case has left behind
    own_process, ///< worker or supervisor: the case has no result here, and has to run in a process of its own. Text:
                 ///< why
    death,       ///< supervisor: the worker ended in the case, or at its end. `code` is the status that waitpid() gave.
                 ///< Texts: " at its end" or nothing, then the processes that the case has left behind
    begun,       ///< worker: the case begins, and what happens from now on is its doing
    not_begun,   ///< supervisor: the case has not begun, and another worker is to run it: this one ended, or the client
                 ///< was slow
    stopped, ///< supervisor: gputest has stopped the worker in the case (policy::runs_again()): its entry runs again
  };
  Kind kind = Kind::ready;
  std::int32_t code = 0;
  /// Of a verdict of a worker that shares errors with others.
  enum class Device : std::uint32_t {
    works,            ///< or nothing is known of it: the worker shares no errors, or has not tried to use one
    did_not_start,    ///< the process has tried to use one, and has none
    has_sticky_error, ///< it is useless to this process
  };
  Device device = Device::works;
  /// Of what a supervisor says of a case: what the worker shares errors with.
  Mps mps = Mps::none;
  /// Likewise, of a verdict or a death: 1 if the case runs once more, in a process of its own, because others may be
  /// why it has failed or was skipped. Then its supervisor has ended what it had left behind.
  std::uint32_t runs_again = 0;
  std::uint32_t count = 0; ///< of the texts, in a packet
};

/// One packet of a socket (SOCK_SEQPACKET).
struct WorkerMessage : MessageHead {
  /// The first text, if there is one.
  [[nodiscard]] std::string text() const { return texts.empty() ? "" : texts.front(); }

  /// The names of the processes that the case has left behind, as the supervisor says.
  [[nodiscard]] std::string processes_left_behind() const {
    const std::size_t at = kind == Kind::verdict ? 0 : 1;
    return (kind == Kind::verdict || kind == Kind::death) && texts.size() > at ? texts[at] : "";
  }

  std::vector<std::string> texts;
  std::vector<os::Descriptor> descriptors;
};

/// The number that GPUTEST_WORKER begins with. A worker of another version of gputest does not know the messages.
inline constexpr int worker_protocol = 9;

/// What an environment variable of one entry is called, or begins with. Cases that differ in these alone may share a
/// worker; the values travel with the case.
inline constexpr const char* variables_of_case[] = {
    "GPUTEST_TEST=",  "GPUTEST_MEMORY=",     "GPUTEST_ENTRY=",   "GPUTEST_TIMEOUT=",
    "GPUTEST_LARGE=", "GPUTEST_WAIT_LIMIT=", "GPUTEST_LEARNED=", "CTEST_RESOURCE_GROUP",
};

/// Whether the message was sent as a whole. `descriptors` stay the caller's. Does not block for long: a packet fits
/// into the socket's buffer, or is refused. Does not raise SIGPIPE.
[[nodiscard]] bool send_message(int socket, const WorkerMessage& message, const std::vector<int>& descriptors = {});

enum class Received { message, nothing, end };

/// Receives a message. Blocks, unless `wait` is false and there is none. `end`: the other side is gone, or is no
/// gputest.
[[nodiscard]] Received receive_message(int socket, WorkerMessage& message, bool wait = true);

} // namespace gputest::workers
