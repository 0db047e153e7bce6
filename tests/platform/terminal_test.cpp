// SPDX-License-Identifier: BSD-3-Clause
#include "platform/terminal.hpp"

#include "platform/descriptor.hpp"
#include "support/in_child.hpp"
#include "support/message_of.hpp"

#include <gputest/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace gputest::platform {
namespace {

using namespace std::chrono_literals;

const std::string begin_screen = "\x1b[?1049h\x1b[?25l";
const std::string end_screen = "\x1b[?25h\x1b[?1049l";

/// A terminal of 20 columns and 3 lines, which changes nothing of what is written to it.
class Terminal : public ::testing::Test {
protected:
  Terminal() : reader_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)} {
    EXPECT_EQ(::grantpt(reader_.number()), 0);
    EXPECT_EQ(::unlockpt(reader_.number()), 0);
    std::array<char, 100> name{};
    EXPECT_EQ(::ptsname_r(reader_.number(), name.data(), name.size()), 0);
    terminal_ = Descriptor{::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC)};
    termios modes{};
    EXPECT_EQ(::tcgetattr(terminal_.number(), &modes), 0);
    ::cfmakeraw(&modes);
    EXPECT_EQ(::tcsetattr(terminal_.number(), TCSANOW, &modes), 0);
    set_size(3, 20);
  }

  void set_size(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(::ioctl(terminal_.number(), TIOCSWINSZ, &size), 0);
  }

  /// Starts a child that has the terminal as `stream`, and this variable TERM, if there is one.
  template <class Function>
  pid_t start(int stream, const char* kind, Function function) {
    return tests::start_child([&] {
      ::dup2(terminal_.number(), stream);
      static_cast<void>(kind != nullptr ? ::setenv("TERM", kind, 1) : ::unsetenv("TERM"));
      return function();
    });
  }

  /// What has been written to the terminal and not read yet.
  [[nodiscard]] std::string written() const {
    static_cast<void>(::fcntl(reader_.number(), F_SETFL, O_NONBLOCK));
    std::string text;
    std::array<char, 4096> block{};
    for (ssize_t count = 0; (count = ::read(reader_.number(), block.data(), block.size())) > 0;) {
      text.append(block.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  /// What a screen that shows `text` writes between its begin and its end.
  [[nodiscard]] std::string shown(const std::string& text) {
    EXPECT_EQ(tests::end_of(start(STDOUT_FILENO, "xterm",
                                  [&] {
                                    const Screen screen;
                                    screen.show(text);
                                    return 0;
                                  })),
              0);
    const auto all = written();
    EXPECT_EQ(all.substr(0, begin_screen.size()), begin_screen);
    EXPECT_EQ(all.substr(all.size() - end_screen.size()), end_screen);
    return all.substr(begin_screen.size(), all.size() - begin_screen.size() - end_screen.size());
  }

  Descriptor reader_;
  Descriptor terminal_;
};

TEST_F(Terminal, of_errors_has_a_width_unless_it_cannot_rewrite_a_line) {
  const auto width = [&](const char* kind) {
    return tests::end_of(
        start(STDERR_FILENO, kind, [] { return static_cast<int>(width_of_error_terminal().value_or(1)); }));
  };
  EXPECT_EQ(width("xterm"), 20);
  EXPECT_EQ(width("dumb"), 1);
  EXPECT_EQ(width(""), 1);
  EXPECT_EQ(width(nullptr), 1);
  set_size(3, 0);
  EXPECT_EQ(width("xterm"), 80) << "it does not say";
  set_size(0, 20);
  EXPECT_EQ(width("xterm"), 80);
  terminal_ = Descriptor{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  EXPECT_EQ(width("xterm"), 1);
}

TEST_F(Terminal, shows_as_much_of_a_text_as_has_room) {
  EXPECT_EQ(shown("one\ntwo"), "\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J");
  EXPECT_EQ(shown("one\n\nthree\n"), "\x1b[Hone\x1b[K\r\n\x1b[K\r\nthree\x1b[K\x1b[J");
  EXPECT_EQ(shown("1\n2\n3\n4\n"), "\x1b[H1\x1b[K\r\n2\x1b[K\r\n3\x1b[K\x1b[J");
  EXPECT_EQ(shown(std::string(19, 'x') + "\n" + std::string(20, 'y')),
            "\x1b[H" + std::string(19, 'x') + "\x1b[K\r\n" + std::string(19, 'y') + "\x1b[K\x1b[J");
  EXPECT_EQ(shown(""), "\x1b[H\x1b[J");
  set_size(0, 0);
  std::string lines;
  std::string first_lines;
  for (int line = 0; line < 30; ++line) {
    lines += std::string(100, 'x') + "\n";
    first_lines += line < 24 ? (line == 0 ? "" : "\r\n") + std::string(79, 'x') + "\x1b[K" : "";
  }
  EXPECT_EQ(shown(lines), "\x1b[H" + first_lines + "\x1b[J") << "as on an old terminal, if it does not say";
}

TEST_F(Terminal, is_left_at_each_signal_that_ends_a_process) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_EQ(tests::end_of(start(STDOUT_FILENO, "xterm",
                                  [&] {
                                    const Screen screen;
                                    if (!screen.wait(0ms)) {
                                      return 1;
                                    }
                                    ::raise(signal);
                                    return screen.wait(1h) ? 2 : 0;
                                  })),
              0);
    EXPECT_EQ(written(), begin_screen + end_screen) << signal;
  }
}

TEST_F(Terminal, is_given_back_while_the_process_is_stopped) {
  const pid_t child = start(STDOUT_FILENO, "xterm", [] {
    const Screen screen;
    ::raise(SIGTSTP);
    return screen.wait(1h) ? 0 : 1;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(written(), begin_screen + end_screen);
  ::kill(child, SIGCONT);
  EXPECT_EQ(tests::end_of(child), 0);
  EXPECT_EQ(written(), begin_screen + end_screen);
}

TEST_F(Terminal, that_cannot_be_written_anew_is_no_screen) {
  EXPECT_EQ(tests::end_of(start(STDOUT_FILENO, "dumb",
                                [] {
                                  const auto said = tests::message_of<Error>([] { const Screen screen; });
                                  return said == "standard output is no terminal that can be written anew" ? 0 : 1;
                                })),
            0);
  EXPECT_EQ(written(), "");
}

} // namespace
} // namespace gputest::platform
