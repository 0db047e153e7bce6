#include "ledger_lock.hpp"

#include "ledger/ledger.hpp"

#include <stdexcept>

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
      [[nodiscard]] bool is_back(const ledger::Record& /*ended*/) const override { return true; }
    };
    return std::make_shared<Always>();
  }
};

class LedgerLock : public Lock {
public:
  LedgerLock(const std::string& place, std::uint64_t bytes) : ledger_{place, std::make_shared<ConstantDevice>()} {
    patience_.on_wait = [](const ledger::Blocked&) {};
    request_.who = "Solver/CholeskyTest.solves_blocked_systems/3"; // as long as names of tests are
    request_.devices = ledger_.devices().bit_of("SIM-benchmark");
    request_.bytes = bytes;
    // Without overhead of its own, so that any number of processes may be inside.
    expect_granted(ledger_.enter({request_.who, request_.devices, 1, 0, bytes, false}, patience_));
  }
  void acquire() override { expect_granted(ledger_.lease(request_, patience_)); }
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
};

} // namespace

void make_ledger(const std::string& place) { const ledger::Ledger made{place, std::make_shared<ConstantDevice>()}; }

std::unique_ptr<Lock> open_ledger(const std::string& place, std::uint64_t bytes) {
  return std::make_unique<LedgerLock>(place, bytes);
}

} // namespace gputest::benchmarks
