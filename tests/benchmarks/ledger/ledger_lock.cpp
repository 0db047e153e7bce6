// SPDX-License-Identifier: BSD-3-Clause
#include "ledger_lock.hpp"

#include "core/ledger/ledger.hpp"

#include <stdexcept>
#include <thread>

namespace gputest::benchmarks {

namespace {

class ConstantDevice : public ledger::DeviceProbe {
public:
  [[nodiscard]] std::shared_ptr<const ledger::Observation> observe(const std::string& /*uuid*/) const override {
    class Always : public ledger::Observation {
    public:
      [[nodiscard]] policy::Capacity capacity(const std::vector<ledger::Record>& /*entries*/,
                                              policy::DeviceMask /*device*/) const override {
        return {whole_device, 0};
      }
      [[nodiscard]] bool is_back(const ledger::Record& /*ended*/,
                                 const std::vector<ledger::Record>& /*entries*/) const override {
        return true;
      }
    };
    return std::make_shared<Always>();
  }
};

class LedgerLock : public Lock {
public:
  LedgerLock(const std::string& place, const LedgerUse& use) : ledger_{place, use.probe}, asks_every_{use.asks_every} {
    patience_.on_wait = [](const ledger::Blocked&) {};
    request_.who = "Solver/CholeskyTest.solves_blocked_systems/3"; // as long as names of tests are
    request_.devices = ledger_.devices().bit_of(use.uuid);
    request_.bytes = use.bytes;
    expect_granted(ledger_.enter({request_.who, request_.devices, 1, use.overhead_bytes, use.bytes, false}, patience_));
    patience_.may_wait = !asks_every_;
  }
  void acquire() override {
    auto result = ledger_.lease(request_, patience_);
    while (asks_every_ && result.kind == ledger::Result::Kind::would_wait) {
      std::this_thread::sleep_for(*asks_every_);
      result = ledger_.lease(request_, patience_);
    }
    expect_granted(result);
  }
  void release() override { ledger_.release(); }

private:
  static void expect_granted(const ledger::Result& result) {
    if (result.kind != ledger::Result::Kind::granted) {
      throw std::logic_error{"the ledger did not grant what always fits"};
    }
  }

  ledger::Ledger ledger_;
  ledger::Patience patience_;
  ledger::Ledger::LeaseRequest request_;
  std::optional<std::chrono::milliseconds> asks_every_;
};

} // namespace

void make_ledger(const std::string& place) { const ledger::Ledger made{place, std::make_shared<ConstantDevice>()}; }

std::unique_ptr<Lock> open_ledger(const std::string& place, const LedgerUse& use) {
  return std::make_unique<LedgerLock>(place, use);
}

std::unique_ptr<Lock> open_ledger(const std::string& place, std::uint64_t bytes) {
  // Without overhead of its own, so that any number of processes may be inside.
  return open_ledger(place, LedgerUse{std::make_shared<ConstantDevice>(), "SIM-benchmark", bytes, 0, {}});
}

} // namespace gputest::benchmarks
