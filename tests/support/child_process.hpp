// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::tests {

/// How a child process came to its end, and all that it wrote.
struct Ended {
  int exit_code = -1; ///< -1 if a signal ended it
  int signal = 0;     ///< 0 if none did
  std::string out;
  std::string err;
};

/// A process whose standard streams are pipes to this test.
///
/// Waiting for text has no limit of its own; CTest's ends a test that waits in vain.
class ChildProcess {
public:
  using Environment = std::map<std::string, std::string>;

  /// Starts `command`, the program's path first, with this environment and no other.
  ChildProcess(std::vector<std::string> command, const Environment& environment);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it if it still runs.
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Blocks until it has written `text` behind what an earlier call waited for; throws if it closes that stream before.
  void wait_for_out(const std::string& text) { wait_for(out_, text); }
  void wait_for_err(const std::string& text) { wait_for(err_, text); }

  /// The next line of its standard output, behind what an earlier call waited for; throws if that stream ends before.
  [[nodiscard]] std::string read_line();

  /// Blocks until nobody has its standard output and error any more.
  void wait_for_end_of_streams();

  /// Writes a line to its standard input.
  void say(const std::string& line);

  /// Ends its standard input.
  void close_input();

  void kill(int signal) const;

  /// Ends its input, and blocks until it has ended and its streams have too.
  Ended finish();

private:
  struct Stream {
    int descriptor = -1;
    std::string text;
    std::size_t seen = 0; ///< how much of it wait_for() has gone past
  };

  void wait_for(Stream& stream, const std::string& text);
  void read_more();

  pid_t pid_ = -1;
  int input_ = -1;
  Stream out_;
  Stream err_;
};

/// What any program needs of this test's environment, and no more: PATH, and what the sanitizers are told.
///
/// No setting of gputest is in it: neither a developer's own ones nor the ctest that runs this test must decide.
[[nodiscard]] ChildProcess::Environment bare_environment();

} // namespace gputest::tests
