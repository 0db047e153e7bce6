#pragma once

#include "private_folder.hpp"

#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputest::cli {

/// How a run of the tool came to its end, and what it said.
struct Ended {
  int exit_code = -1; ///< -1: a signal ended it
  int signal = 0;     ///< 0: none did
  std::string out;
  std::string err;
};

/// A run of the tool that goes on: its standard streams are pipes to this test.
///
/// Waiting for text has no limit of its own; CTest's ends a test that waits in vain.
class Running {
public:
  Running(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  /// Kills it if it still runs.
  ~Running();

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Blocks until it has written `text`; throws if it closes that stream before.
  void wait_for_out(const std::string& text) { wait_for(out_, text); }
  void wait_for_err(const std::string& text) { wait_for(err_, text); }

  /// Blocks until nobody has its standard output and error any more.
  void wait_for_end_of_streams();

  /// Ends its standard input, for which a command in these tests waits.
  void close_input();

  void kill(int signal) const;

  /// Ends its input, and blocks until it has ended and its streams have too.
  Ended finish();

private:
  struct Stream {
    int descriptor = -1;
    std::string text;
  };

  void wait_for(Stream& stream, const std::string& text);
  /// Blocks until one of the streams says something or ends.
  void read_more();

  pid_t pid_ = -1;
  int input_ = -1;
  Stream out_;
  Stream err_;
};

/// The tool as built, with one simulated device of 16 GiB, contexts of 512 MiB, and a ledger of its own.
class Tool {
public:
  Tool();

  /// Sets a variable for the runs from now on.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }

  [[nodiscard]] Running start(const std::vector<std::string>& arguments) const { return {arguments, environment_}; }

  /// Runs it to its end.
  [[nodiscard]] Ended run(const std::vector<std::string>& arguments) const { return start(arguments).finish(); }

  /// A folder that is there, for files of the test.
  [[nodiscard]] const PrivateFolder& folder() const { return folder_; }

  /// The ledger's folder, which is not there before somebody makes it.
  [[nodiscard]] std::string ledger() const { return folder_.path() + "/ledger"; }

  /// Path of the tool.
  [[nodiscard]] static std::string path();

private:
  PrivateFolder folder_;
  std::map<std::string, std::string> environment_;
};

} // namespace gputest::cli
