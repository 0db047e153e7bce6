// SPDX-License-Identifier: BSD-3-Clause
// A process on a ledger that does what it is told: ledger_process <ledger's folder> <file of SharedProbe>.
//
// Reads one command a line, and answers each with one line: what came of it. A request that has to wait says so, in a
// line of its own, as soon as it is in the queue. Bytes are plain numbers, devices are sets of bits.
//
//   enter <who> <candidates> <gpus> <overhead> <largest> [<option>...]   lease <who> <devices> <bytes> [<option>...]
//   idle   resume (`resumed` or `has to leave`)   leave (sleeps until it was notified)
//   grow <bytes> (`grown` or `not grown`)   release   overhead <bytes>   credential   fork   fork-enter   exec
//   beyond-claims <devices> (whether `external` processes have memory there, or `none`)
//   intact (whether it still has what its place on the ledger depends on)
//   close-all (every descriptor from 3 on)   close <name> (those of the file with this name, whatever its folder)
//   replace <name> <file> (makes those be of `file`, open for both directions)
//   use-up-descriptors [n] (opens as many files as it may, less n)
//   tell-when-told (is `telling` until it hears a line; `fail` lets it throw)
//
// Options: whole, exclusive, medium lock, try (do not wait), at-once (wait for no time at all), for-a-while,
// leaving-briefly (idle processes may take a millisecond to leave),
// looks-often (what it has observed counts for a millisecond only).

#include "core/ledger/ledger.hpp"
#include "core/os/kernel_clock.hpp"
#include "support/shared_probe.hpp"
#include "support/use_up_descriptors.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace gputest;
using ledger::Ledger;
using ledger::Result;

using Words = std::vector<std::string>;

std::string names(const ledger::Blocked& blocked) {
  std::vector<std::string> names;
  for (const auto& blocker : blocked.blockers) {
    names.push_back(blocker.who + (blocker.alive ? "" : "(ended)") +
                    (blocker.kept_by ? "(kept by " + std::to_string(*blocker.kept_by) + ")" : ""));
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const auto& name : names) {
    text += " " + name;
  }
  return text + (blocked.external_bytes > 0 ? " external processes" : "");
}

std::string in_words(const Result& result) {
  switch (result.kind) {
  case Result::Kind::granted:
    return "granted " + std::to_string(result.devices);
  case Result::Kind::refused:
    return "refused " + std::to_string(result.refusal.asked_bytes) + " of " +
           std::to_string(result.refusal.largest_device_bytes);
  case Result::Kind::would_wait:
    return "would wait for" + names(result.blocked);
  case Result::Kind::timed_out:
    return "timed out for" + names(result.blocked);
  case Result::Kind::stuck:
    return "stuck beside" + names(result.blocked);
  case Result::Kind::unannounced:
    return "unannounced beside" + names(result.blocked);
  }
  return "unknown";
}

class Process {
public:
  Process(const std::string& folder, const std::string& probe)
      : ledger_{folder, std::make_shared<tests::SharedProbe>(probe)} {
    for (std::size_t device = 0; device < tests::SharedProbe::count; ++device) {
      static_cast<void>(ledger_.devices().bit_of(tests::SharedProbe::uuid(device)));
    }
  }

  std::string answer(const Words& words) {
    const std::string& command = words.at(0);
    const std::map<std::string, std::function<std::string()>> commands{
        {"enter", [&] { return enter(words); }},
        {"lease", [&] { return lease(words); }},
        {"grow", [&] { return std::string{ledger_.grow(std::stoull(words.at(1))) ? "grown" : "not grown"}; }},
        {"resume", [&] { return std::string{ledger_.resume() ? "resumed" : "has to leave"}; }},
        {"leave", [&] { return leave(); }},
        {"credential", [&] { return ledger_.credential(); }},
        {"fork", [] { return std::to_string(leave_a_child()); }},
        {"fork-enter", [&] { return answer_of_a_child(); }},
        {"exec", [&] { return become_cat(); }},
        {"beyond-claims",
         [&] {
           return std::string{ledger_.unleased_memory(std::stoull(words.at(1))).external_bytes > 0 ? "external"
                                                                                                   : "none"};
         }},
        {"release", done("released", [&] { ledger_.release(); })},
        {"idle", done(command, [&] { ledger_.set_idle(); })},
        {"overhead", done(command, [&] { ledger_.set_overhead(std::stoull(words.at(1))); })},
        {"intact", done(command, [&] { ledger_.require_intact(); })},
        {"tell-when-told", done(command, [&] { tell_ = tell_when_told; })},
        {"close-all", done("closed all", [] { for_each_descriptor(::close); })},
        {"close", [&] { return "closed " + std::to_string(on_descriptors_of(words.at(1), ::close)); }},
        {"replace", [&] { return replace(words.at(1), words.at(2)); }},
        {"use-up-descriptors", [&] {
           return std::string{tests::use_up_descriptors(words.size() > 1 ? std::stoul(words[1]) : 0).empty()
                                  ? "none was left"
                                  : "used up"};
         }}};
    const auto known = commands.find(command);
    return known != commands.end() ? known->second() : "unknown command " + command;
  }

private:
  template <class Act>
  static std::function<std::string()> done(const std::string& answer, Act act) {
    return [answer, act] {
      act();
      return answer;
    };
  }

  template <class Act>
  static void for_each_descriptor(Act act) {
    for (int number = STDERR_FILENO + 1; number < 1024; ++number) {
      act(number);
    }
  }

  /// How many there are of the file with this name.
  template <class Act>
  static int on_descriptors_of(const std::string& name, Act act) {
    std::vector<int> numbers;
    for_each_descriptor([&](int number) {
      std::error_code error;
      const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), error);
      if (!error && path.filename() == name) {
        numbers.push_back(number);
      }
    });
    std::for_each(numbers.begin(), numbers.end(), act);
    return static_cast<int>(numbers.size());
  }

  static std::string replace(const std::string& name, const std::string& path) {
    int file = -1;
    const int replaced = on_descriptors_of(name, [&](int number) {
      file = file < 0 ? ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK) : file;
      ::dup2(file, number);
    });
    ::close(file);
    return "replaced " + std::to_string(replaced);
  }

  static void tell_when_told(const ledger::Blocked& /*blocked*/) {
    std::cout << "telling" << std::endl;
    std::string line;
    std::getline(std::cin, line);
    if (line == "fail") {
      throw std::runtime_error{"cannot tell"};
    }
  }

  std::string leave() {
    pollfd notified{ledger_.leave_descriptor(), POLLIN, 0};
    ::poll(&notified, 1, -1);
    return ledger_.has_to_leave() ? "has to leave" : "was not notified";
  }

  std::string become_cat() {
    ledger_.inherit_across_exec();
    std::cout << "becoming cat" << std::endl;
    ::execl("/bin/cat", "cat", nullptr);
    return "cannot become cat";
  }

  static bool has(const Words& words, const char* option) {
    return std::find(words.begin(), words.end(), option) != words.end();
  }

  [[nodiscard]] ledger::Patience patience(const Words& words) const {
    ledger::Patience patience;
    patience.may_wait = !has(words, "try");
    if (has(words, "at-once")) {
      patience.until = os::KernelClock::now();
    }
    if (has(words, "for-a-while")) {
      patience.until = os::KernelClock::now() + std::chrono::seconds{1};
    }
    if (has(words, "looks-often")) {
      patience.observation_lasts = std::chrono::milliseconds{1};
    }
    if (has(words, "leaving-briefly")) {
      patience.leaving_lasts = std::chrono::milliseconds{1};
    }
    patience.notice_after = std::chrono::milliseconds{0};
    patience.on_wait = tell_;
    return patience;
  }

  std::string enter(const Words& words) {
    Ledger::EnterRequest request;
    request.who = words.at(1);
    request.candidates = std::stoull(words.at(2));
    request.gpus = static_cast<unsigned>(std::stoul(words.at(3)));
    request.overhead_bytes = std::stoull(words.at(4));
    request.largest_bytes = std::stoull(words.at(5));
    request.whole_devices = has(words, "whole");
    return in_words(ledger_.enter(request, patience(words)));
  }

  std::string lease(const Words& words) {
    Ledger::LeaseRequest request;
    request.who = words.at(1);
    request.devices = std::stoull(words.at(2));
    request.bytes = std::stoull(words.at(3));
    request.exclusive = has(words, "exclusive");
    request.medium_lock = has(words, "medium_lock");
    return in_words(ledger_.lease(request, patience(words)));
  }

  /// A child that does nothing until it is killed, and keeps none of the pipes to the test open.
  static pid_t leave_a_child() {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(STDIN_FILENO);
      ::close(STDOUT_FILENO);
      ::close(STDERR_FILENO);
      for (;;) {
        ::pause();
      }
    }
    return child;
  }

  /// A child that asks for what only its parent may ask for; the parent passes its answers on.
  std::string answer_of_a_child() {
    const pid_t child = ::fork();
    if (child == 0) {
      for (const char* command : {"enter child 1 1 1 1", "lease child 1 1", "release", "overhead 99"}) {
        std::istringstream line{command};
        try {
          std::cout << answer({std::istream_iterator<std::string>{line}, {}}) << std::endl;
        } catch (const Error& error) {
          std::cout << error.what() << std::endl;
        }
      }
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    return "the child has ended";
  }

  Ledger ledger_;
  std::function<void(const ledger::Blocked&)> tell_ = [](const ledger::Blocked& blocked) {
    std::cout << "waits for" << names(blocked) << std::endl;
  };
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  Process process{argv[1], argv[2]};
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    try {
      std::cout << process.answer({std::istream_iterator<std::string>{words}, {}}) << std::endl;
    } catch (const NestedLease& error) {
      std::cout << "nested: " << error.what() << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error: " << error.what() << std::endl;
    }
  }
}
