// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/actor_program.hpp"

#include "core/devices/simulated/simulated_memory.hpp"
#include "core/policy/leaving.hpp"
#include "proofs/steps/commands.hpp"
#include "proofs/steps/oracle.hpp"

#include <gputest/error.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
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

void stop_for_the_tracer() {
#ifdef __x86_64__
  asm volatile("int3");
#else
  throw std::logic_error{"there is no tracer for this machine"};
#endif
}

class Program {
public:
  Program(const Actor::Client& place, int output)
      : client_{place}, output_{output}, oracle_{std::make_shared<StepsOracle>(place.oracle_file)} {}

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

  void before(const Words& words) {
    if (words.at(0) == "release") {
      const StepsOracle::Use without_lease{use_.overhead_bytes, {}, use_.inside, use_.alone, {}, {}};
      use(without_lease);
    }
  }

  void after(const Words& words, const std::string& outcome) {
    const bool granted = outcome.compare(0, 7, "granted") == 0;
    const std::string& command = words.at(0);
    StepsOracle::Use now = use_;
    if (command == "enter" && granted) {
      for_each(std::stoul(outcome.substr(8)), [&](std::size_t device) {
        now.inside.at(device) = true;
        now.alone.at(device) = has_option(words, "whole");
        now.overhead_bytes.at(device) = static_cast<std::uint32_t>(std::stoul(words.at(3)));
      });
    } else if (command == "lease" && granted) {
      for_each(std::stoul(words.at(1)), [&](std::size_t device) {
        now.leased_bytes.at(device) = static_cast<std::uint32_t>(std::stoul(words.at(2)));
        now.exclusive.at(device) = has_option(words, "exclusive");
        now.medium_lock.at(device) = has_option(words, "medium_lock");
      });
    } else if (command == "overhead" && outcome == "done") {
      for (std::size_t device = 0; device < StepsOracle::devices; ++device) {
        const auto bytes = static_cast<std::uint32_t>(std::stoul(words.at(1)));
        now.overhead_bytes.at(device) = now.inside.at(device) ? bytes : 0;
      }
    } else {
      return;
    }
    use(now);
  }

  template <class Function>
  static void for_each(unsigned long devices, Function function) {
    for (std::size_t device = 0; device < StepsOracle::devices; ++device) {
      if ((devices >> device & 1U) != 0) {
        function(device);
      }
    }
  }

  void use(const StepsOracle::Use& use) {
    use_ = use;
    oracle_->use(client_.number, use_);
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
      ::poll(&notified, 1, -1);
    }
    use({});
    ::_exit(0);
  }

  [[nodiscard]] std::string name() const { return std::to_string(client_.number); }

  template <class Predicate>
  std::string names_of(Predicate wanted) {
    std::string names;
    for (const auto& entry : ledger_->entries()) {
      names += wanted(entry) ? " " + entry.who : "";
    }
    return names;
  }

  /// Those who wait although everything that stands on the ledger lets them go on, or would if idle processes left.
  std::string admissible() {
    policy::Snapshot snapshot;
    snapshot.devices.resize(StepsOracle::devices, policy::Capacity{StepsOracle::device_bytes, 0});
    std::vector<std::string> names;
    for (const auto& entry : ledger_->entries()) {
      if (entry.alive) {
        snapshot.claims.push_back(entry.claim);
        names.push_back(entry.who);
        snapshot.claims.back().stopped = entry.who == "0"; // the subject, which its tracer holds, cannot leave
      }
    }
    std::string admissible;
    for (std::size_t position = 0; position < names.size(); ++position) {
      if (policy::asked_devices(snapshot.claims[position]) == 0) {
        continue;
      }
      const auto decision = policy::decide(snapshot, position);
      const auto* wait = std::get_if<policy::Wait>(&decision);
      if (std::holds_alternative<policy::Grant>(decision) ||
          (wait != nullptr && policy::who_has_to_leave(snapshot, position, *wait).enough)) {
        admissible += " " + names[position];
      }
    }
    return "admissible" + admissible;
  }

  Actor::Client client_;
  int output_;
  std::shared_ptr<StepsOracle> oracle_;
  StepsOracle::Use use_;
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
