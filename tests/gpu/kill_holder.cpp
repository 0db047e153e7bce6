// SPDX-License-Identifier: BSD-3-Clause
// Kills a process that holds most of a GPU, again and again, while another one waits for the same bytes and allocates
// them the moment it is admitted. With the ledger's rule that a dead owner's bytes come back when the device shows them
// free, no allocation may fail. With --blind that rule is off, and some must, or this test proves nothing.
//
//   kill_holder [--blind] [--rounds <n>] [--percent <of the device's free memory>]
#include "core/devices/device_list.hpp"
#include "core/ledger/device_probe.hpp"
#include "core/ledger/ledger.hpp"
#include "core/os/environment.hpp"
#include "core/os/kernel_clock.hpp"

#include <cuda_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gputest;

namespace {

/// Takes every record at its word: a dead owner's bytes are free at once, and nobody else uses the device.
class Blind : public ledger::DeviceProbe {
public:
  explicit Blind(std::uint64_t total) : total_{total} {}

  std::shared_ptr<const ledger::Observation> observe(const std::string&) const override {
    return std::make_shared<Believed>(total_);
  }

private:
  class Believed : public ledger::Observation {
  public:
    explicit Believed(std::uint64_t total) : total_{total} {}
    policy::Capacity capacity(const std::vector<ledger::Record>&, policy::DeviceMask) const override {
      return {total_, 0};
    }
    bool is_back(const ledger::Record&, const std::vector<ledger::Record>&) const override { return true; }

  private:
    std::uint64_t total_;
  };

  std::uint64_t total_;
};

struct Options {
  bool blind = false;
  int rounds = 200;
  int percent = 70;
};

/// One process on the ledger, of the first device.
class Client {
public:
  explicit Client(const Options& options) {
    const auto settings = settings_from_environment();
    std::string why;
    const std::shared_ptr<const devices::DeviceList> list = devices::open_devices(settings, why);
    if (list->devices().empty()) {
      throw std::runtime_error{"no GPU: " + why};
    }
    const std::uint64_t total = list->devices().front().total.count() - list->reserved_bytes(0);
    bytes_ = total / 100 * static_cast<std::uint64_t>(options.percent);
    std::shared_ptr<const ledger::DeviceProbe> probe = std::make_shared<Blind>(total);
    if (!options.blind) {
      probe = ledger::make_probe(list);
    }
    ledger_ = std::make_unique<ledger::Ledger>(settings.folder + (options.blind ? "-blind" : "-kills"), probe);
    device_ = ledger_->devices().bit_of(list->devices().front().uuid);
    os::set_variable("CUDA_VISIBLE_DEVICES", list->devices().front().uuid);
    ledger::Ledger::EnterRequest request;
    request.who = "kill_holder";
    request.candidates = device_;
    request.overhead_bytes = list->usual_overhead_bytes(0);
    request.largest_bytes = bytes_;
    require(ledger_->enter(request, patience()).kind == ledger::Result::Kind::granted, "entering");
  }

  void lease() {
    require(ledger_->lease({"kill_holder", device_, bytes_}, patience()).kind == ledger::Result::Kind::granted,
            "leasing");
  }

  [[nodiscard]] cudaError_t allocate() const {
    void* memory = nullptr;
    return cudaMalloc(&memory, bytes_);
  }

  /// Whether another process waits for its lease.
  [[nodiscard]] bool somebody_waits() {
    for (const auto& record : ledger_->records()) {
      if (record.claim.stage == policy::Stage::waiting) {
        return true;
      }
    }
    return false;
  }

  static void require(bool holds, const char* what) {
    if (!holds) {
      throw std::runtime_error{std::string{what} + " failed"};
    }
  }

private:
  static ledger::Patience patience() {
    ledger::Patience patience;
    patience.until = os::KernelClock::now() + std::chrono::minutes{1};
    patience.on_wait = [](const ledger::Blocked&) {};
    return patience;
  }

  std::unique_ptr<ledger::Ledger> ledger_;
  policy::DeviceMask device_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Holds the memory, says so with one byte, says with another one that somebody waits for it, and is killed.
int hold(const Options& options, int said) {
  Client client{options};
  client.lease();
  Client::require(client.allocate() == cudaSuccess, "the holder's own allocation");
  Client::require(::write(said, "h", 1) == 1, "saying so");
  while (!client.somebody_waits()) {
  }
  Client::require(::write(said, "w", 1) == 1, "saying so");
  ::pause();
  return EXIT_FAILURE;
}

/// Waits for the memory with its context made, and allocates it at once. Exits with 0, or 1 for out of memory.
int take(const Options& options) {
  Client client{options};
  Client::require(cudaFree(nullptr) == cudaSuccess, "making a context");
  client.lease();
  return client.allocate() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}

void wait_for(int pipe, char expected) {
  char said = 0;
  Client::require(::read(pipe, &said, 1) == 1 && said == expected, "a word from the holder");
}

template <class Function>
pid_t start(Function function) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    try {
      ::_exit(function());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(2);
    }
  }
  return pid;
}

/// Whether the waiter could allocate what the killed holder had.
bool round(const Options& options) {
  int pipe[2];
  Client::require(::pipe(pipe) == 0, "a pipe");
  const pid_t holder = start([&] { return hold(options, pipe[1]); });
  ::close(pipe[1]);
  wait_for(pipe[0], 'h');
  const pid_t waiter = start([&] { return take(options); });
  wait_for(pipe[0], 'w');
  ::kill(holder, SIGKILL);
  int status = 0;
  ::waitpid(waiter, &status, 0);
  ::waitpid(holder, nullptr, 0);
  ::close(pipe[0]);
  Client::require(WIFEXITED(status) && WEXITSTATUS(status) < 2, "the waiter");
  return WEXITSTATUS(status) == 0;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--blind") {
      options.blind = true;
    } else if (argument == "--rounds" && i + 1 < argc) {
      options.rounds = std::atoi(argv[++i]);
    } else if (argument == "--percent" && i + 1 < argc) {
      options.percent = std::atoi(argv[++i]);
    } else {
      throw std::runtime_error{"unknown argument " + argument};
    }
  }
  return options;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    int failures = 0;
    for (int i = 0; i < options.rounds; ++i) {
      failures += round(options) ? 0 : 1;
    }
    std::printf("%d kills of a holder of %d %% of the device, each with a waiter for the same bytes; evidence rule %s: "
                "%d out of memory\n",
                options.rounds, options.percent, options.blind ? "off" : "on", failures);
    // With the rule off this is a test of the test.
    return (failures == 0) != options.blind ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kill_holder: %s\n", error.what());
    return 2;
  }
}
