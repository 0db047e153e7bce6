// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/actor_program.hpp"

#include "core/devices/simulated/simulated_memory.hpp"
#include "core/ledger/ledger.hpp"
#include "core/os/kernel_clock.hpp"
#include "proofs/steps/system_calls.hpp"
#include "proofs/storm/oracle.hpp"

#include <gputest/error.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <typeinfo>
#include <utility>
#include <vector>

namespace gputest::tests {

namespace {

using ledger::Ledger;
using ledger::Result;

/// A command of actor_program.hpp: its name, and what follows it.
using Words = std::vector<std::string>;

bool has_option(const Words& words, const char* option) {
  return std::find(words.begin(), words.end(), option) != words.end();
}

Ledger::EnterRequest enter_request(const Words& words, const std::string& who) {
  Ledger::EnterRequest request;
  request.who = who;
  request.candidates = std::stoul(words.at(1));
  request.gpus = static_cast<unsigned>(std::stoul(words.at(2)));
  request.overhead_bytes = std::stoul(words.at(3));
  request.largest_bytes = std::stoul(words.at(4));
  request.whole_devices = has_option(words, "whole");
  return request;
}

Ledger::LeaseRequest lease_request(const Words& words, const std::string& who) {
  Ledger::LeaseRequest request;
  request.who = who;
  request.devices = std::stoul(words.at(1));
  request.bytes = std::stoul(words.at(2));
  request.exclusive = has_option(words, "exclusive");
  request.medium_lock = has_option(words, "medium_lock");
  return request;
}

/// In its place, for address_of_limit().
ledger::Patience& patience_of_this_process() {
  static ledger::Patience patience;
  return patience;
}

/// Waits without time-outs, unless an option says otherwise: a process that has to be woken and is not sleeps for ever.
/// Nothing depends on the clock, so a request makes the same system calls each time.
const ledger::Patience& patience(const Words& words) {
  ledger::Patience& patience = patience_of_this_process();
  patience = {};
  if (has_option(words, "at-once")) {
    patience.until = os::KernelClock::now();
  }
  if (has_option(words, "briefly")) {
    patience.until = os::KernelClock::now() + std::chrono::minutes{1}; // it passes as soon as the process sleeps
  }
  patience.notice_after = std::chrono::milliseconds::max();
  patience.observation_lasts = std::chrono::milliseconds::max();
  return patience;
}

std::string in_words(const Result& result) {
  switch (result.kind) {
  case Result::Kind::granted:
    return "granted " + std::to_string(result.devices);
  case Result::Kind::refused:
    return "refused";
  case Result::Kind::would_wait:
    return "would wait";
  case Result::Kind::timed_out:
    return "timed out";
  case Result::Kind::stuck:
    return "stuck";
  case Result::Kind::unannounced:
    return "unannounced";
  }
  return "unknown";
}

void stop_for_the_tracer() { asm volatile("int3"); }

class Program {
public:
  Program(const Actor::Client& place, int output)
      : client_{place}, output_{output}, oracle_{std::make_shared<storm::Oracle>(*place.board, place.number)} {
    place.board->row_of(place.number).number = place.number;
  }

  void obey(Words words) {
    const bool traced = words.at(0) == "traced";
    if (traced) {
      words.erase(words.begin());
    }
    before(words);
    if (traced) {
      stop_for_the_tracer();
    }
    const std::string outcome = outcome_of(words);
    if (traced) {
      stop_for_the_tracer();
    }
    after(words, outcome);
    say(outcome);
  }

private:
  void say(const std::string& line) const {
    const std::string text = line + "\n";
    static_cast<void>(!::write(output_, text.data(), text.size()));
  }

  std::string outcome_of(const Words& words) {
    try {
      return act(words);
    } catch (const OutOfMemory&) {
      return "out of memory";
    } catch (const LedgerError& error) {
      return std::string{"LedgerError: "} + error.what();
    } catch (const std::exception& error) {
      return std::string{"exception "} + typeid(error).name() + ": " + error.what();
    }
  }

  /// What the process has it gives back before the ledger knows.
  void before(const Words& words) {
    if (words.at(0) == "release") {
      for (storm::Use& use : uses_) {
        use.leased_bytes = 0;
        use.exclusive = whole_;
        use.medium_lock = false;
      }
      oracle_->use(uses_);
    }
  }

  /// What it was given it uses after the ledger has said so.
  void after(const Words& words, const std::string& outcome) {
    const bool granted = outcome.compare(0, 7, "granted") == 0;
    const std::string& command = words.at(0);
    const auto number = [&](std::size_t word) { return static_cast<std::uint16_t>(std::stoul(words.at(word))); };
    if (command == "enter" && granted) {
      whole_ = has_option(words, "whole");
      for_each(std::stoul(outcome.substr(8)), [&](storm::Use& use) {
        use.inside = true;
        use.exclusive = whole_;
        use.overhead_bytes = number(3);
      });
    } else if (command == "lease" && granted) {
      for_each(std::stoul(words.at(1)), [&](storm::Use& use) {
        use.leased_bytes = number(2);
        use.exclusive = whole_ || has_option(words, "exclusive");
        use.medium_lock = has_option(words, "medium_lock");
      });
    } else if (command == "grow" && outcome == "grown") {
      for (storm::Use& use : uses_) {
        use.leased_bytes = use.leased_bytes == 0 ? std::uint16_t{0} : number(1);
      }
    } else if (command == "overhead" && outcome == "done") {
      for (storm::Use& use : uses_) {
        use.overhead_bytes = use.inside ? number(1) : std::uint16_t{0};
      }
    } else {
      return;
    }
    oracle_->use(uses_);
  }

  template <class Function>
  void for_each(unsigned long devices, Function function) {
    for (std::size_t device = 0; device < scenario_devices; ++device) {
      if ((devices >> device & 1U) != 0) {
        function(uses_.at(device));
      }
    }
  }

  std::string act(const Words& words) {
    const std::string& command = words.at(0);
    if (command == "open") {
      ledger_.emplace(client_.folder, oracle_);
      for (const char* device : {"device-0", "device-1"}) {
        static_cast<void>(ledger_->devices().bit_of(device));
      }
    } else if (command == "enter") {
      return in_words(ledger_->enter(enter_request(words, name()), patience(words)));
    } else if (command == "lease") {
      return in_words(ledger_->lease(lease_request(words, name()), patience(words)));
    } else if (command == "release") {
      ledger_->release();
    } else if (command == "grow") {
      return ledger_->grow(std::stoul(words.at(1)), patience(words)) ? "grown" : "not grown";
    } else if (command == "overhead") {
      ledger_->set_overhead(std::stoul(words.at(1)));
    } else if (command == "set_idle") {
      ledger_->set_idle();
    } else if (command == "resume") {
      return ledger_->resume() ? "resumed" : "has to leave";
    } else if (command == "idle") {
      be_idle();
    } else if (command == "alive") {
      return "alive" + names_of([](const ledger::Record& entry) { return entry.alive; });
    } else if (command == "asking") {
      return "asking" + names_of([](const ledger::Record& entry) {
               return entry.alive && policy::asked_devices(entry.claim) != 0;
             });
    } else if (command == "beyond") {
      return "beyond" + names_of([&](const ledger::Record& entry) { return entry.alive && uses_more(entry); });
    } else if (command == "admissible") {
      return admissible();
    } else if (command == "store") {
      store_.emplace(client_.folder, "store", os::Layout{1, 0, 256, 4});
    } else if (command == "simulated") {
      simulated_.emplace(policy::SimulatedDevices{1, Bytes{900}, Bytes{0}}, client_.folder);
    } else if (command == "allocate") {
      simulated_->allocate(0, Bytes{std::stoul(words.at(1))});
    } else if (command == "free") {
      simulated_->free(0, Bytes{std::stoul(words.at(1))});
    } else if (command == "used") {
      return std::to_string(simulated_->use(0).used_bytes);
    } else {
      throw std::logic_error{"unknown command " + command};
    }
    return "done";
  }

  /// Until it has to leave; then it ends.
  [[noreturn]] void be_idle() {
    ledger_->set_idle();
    pollfd notified{ledger_->leave_descriptor(), POLLIN, 0};
    while (!ledger_->has_to_leave()) {
      ::ppoll(&notified, 1, nullptr, nullptr);
    }
    oracle_->use({});
    ::_exit(0);
  }

  [[nodiscard]] std::string name() const { return std::to_string(client_.number); }

  template <class Predicate>
  std::string names_of(Predicate wanted) {
    std::string names;
    for (const auto& entry : ledger_->records()) {
      names += wanted(entry) ? " " + entry.who : "";
    }
    return names;
  }

  /// Whether a process says that it uses more of a device than its record covers.
  bool uses_more(const ledger::Record& entry) {
    const policy::Claim& claim = entry.claim;
    bool more = false;
    for (std::size_t device = 0; device < scenario_devices; ++device) {
      const auto use = storm::Use::unpacked(client_.board->row_of(std::stoul(entry.who)).uses.at(device));
      const bool holds = claim.stage == policy::Stage::holding && (claim.wanted >> device & 1U) != 0;
      more = more || use.overhead_bytes + use.leased_bytes > claim.overhead_bytes + (holds ? claim.lease_bytes : 0);
    }
    return more;
  }

  std::string admissible() {
    policy::Snapshot snapshot;
    snapshot.devices.resize(scenario_devices, policy::Capacity{storm::device_bytes, 0});
    std::vector<std::string> names;
    for (const auto& entry : ledger_->records()) {
      if (entry.alive) {
        snapshot.claims.push_back(entry.claim);
        names.push_back(entry.who);
        snapshot.claims.back().stopped = entry.who == "0"; // the subject, which its tracer holds, cannot leave
      }
    }
    std::string admissible = "admissible";
    for (const std::size_t position : storm::who_could_go_on(snapshot)) {
      admissible += " " + names[position];
    }
    return admissible;
  }

  Actor::Client client_;
  int output_;
  std::shared_ptr<storm::Oracle> oracle_;
  storm::Oracle::Uses uses_{};
  bool whole_ = false; ///< it entered as one that may ask for whole devices
  std::optional<Ledger> ledger_;
  std::optional<os::SlotStore> store_;
  std::optional<devices::SimulatedMemory> simulated_;
};

/// Leaves room on the heap for what a command takes: else it would depend on what this process has inherited whether,
/// and where, the allocator asks the kernel for more.
void make_room_on_the_heap() {
  constexpr std::size_t plenty = 100'000; // below what glibc maps by itself, or gives back when it is freed
  const std::unique_ptr<volatile char[]> freed_at_once{new volatile char[plenty]}; // NOLINT(*-avoid-c-arrays)
  freed_at_once[0] = 0;                                                            // so that it cannot be left out
}

/// The next line of `input`; empty at its end.
std::string read_line(int input) {
  std::string line;
  for (char next = 0; ::read(input, &next, 1) == 1 && next != '\n';) {
    line += next;
  }
  return line;
}

} // namespace

std::uintptr_t address_of_limit() {
  static_assert(sizeof(ledger::Patience::until) == sizeof(long), "ptrace() writes words");
  return reinterpret_cast<std::uintptr_t>(&patience_of_this_process().until);
}

int run_actor_program(const Actor::Client& place, int input, int output) {
  make_room_on_the_heap();
  Program program{place, output};
  for (std::string line = read_line(input); !line.empty(); line = read_line(input)) {
    std::istringstream words{line};
    program.obey({std::istream_iterator<std::string>{words}, {}});
  }
  return 0;
}

} // namespace gputest::tests
