// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"
#include "core/os/process.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace gputest::supervise {

/// Pipes that others have for output in place of this process's own streams, where these are pipes or sockets, which
/// somebody reads to their end. What comes is passed on. A relay ends when its last writer has closed it,
/// whichever process that was. A search of /proc could miss one.
class Relays {
public:
  /// With `any` false there are none. Else SIGPIPE stays blocked in this process. With `withholds` what comes is kept
  /// until the end of this: all of it, in memory, as CTest then keeps it to judge by it.
  explicit Relays(bool any, bool withholds = false);
  ~Relays() { release(); }
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;

  /// What to give others in place of a stream of this process: the stream itself, if it has no relay.
  [[nodiscard]] int output_for(int stream) const;

  /// After the others have theirs.
  void close_write_ends();

  /// Whether there may be more to pass on.
  [[nodiscard]] bool any_open() const;

  /// Whether somebody may still write.
  [[nodiscard]] bool any_writer() const;

  /// Waits like poll(), without a limit for ever, also until something was passed on, which it returns. Never blocks in
  /// a write: what a stream does not take now waits, and so does who has written it. If nobody reads a stream any more,
  /// who writes to its relay gets SIGPIPE. Throws Error if the kernel refuses to wait.
  bool wait(std::vector<pollfd>& polled, std::optional<std::chrono::nanoseconds> limit);

  /// Passes on what was written before this call, as far as that is possible without blocking. Throws as wait().
  void pass_on_what_is_there();

  /// Passes on what was withheld. Blocks until it is read.
  void release();
  void drop_withheld();

  /// Ends those of the processes that can write to a relay, again and again for at most a second, because one may have
  /// started another meanwhile. With `all`, also processes whose descriptors cannot be read. Returns their names.
  [[nodiscard]] std::string end_holders(std::vector<pid_t> (*candidates)(), bool all);

private:
  struct Relay {
    os::Descriptor read_end;
    os::Descriptor write_end;
    int stream = -1;            ///< of this process
    int also = -1;              ///< another one, which is the same file
    std::string unwritten = {}; ///< was read and not written yet
    bool withholds = false;

    [[nodiscard]] pollfd next() const;
    [[nodiscard]] bool pass_on();
  };
  [[nodiscard]] std::vector<os::FileNumbers> open_ones() const;

  std::vector<Relay> relays_;
};

/// Before this process writes a line of its own to its standard error: ends the line in which the output that was
/// passed on to there has stopped, or that of the file that it is.
void end_unfinished_line();

} // namespace gputest::supervise
