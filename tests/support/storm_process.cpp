// One process of a storm: storm_process <ledger's folder> <oracle's file> <number> <seed> <tests>.
//
// Enters, leases at random, and ends. Writes a byte to standard output at every step, so that its killer knows that it
// lives. Ends with 0 if all went well, with 3 if it had to wait too long.

#include "ledger/ledger.hpp"
#include "support/storm_oracle.hpp"

#include <memory>
#include <random>
#include <string>

#include <unistd.h>

namespace {

using namespace gputest;
using ledger::Ledger;
using ledger::Result;
using tests::StormOracle;

class Process {
public:
  explicit Process(char** arguments)
      : name_{arguments[3]}, number_{std::stoul(name_)}, random_{static_cast<unsigned>(std::stoul(arguments[4]))},
        oracle_{std::make_shared<StormOracle>(arguments[2])}, ledger_{arguments[1], oracle_} {
    for (std::size_t d = 0; d < StormOracle::devices; ++d) {
      all_ |= ledger_.devices().bit_of("device-" + std::to_string(d));
    }
  }

  int run(int tests) {
    if (!enter()) {
      return 3;
    }
    for (int test = 0; test < tests; ++test) {
      if (!run_test()) {
        return 3;
      }
    }
    use_ = {};
    oracle_->use(number_, use_);
    return 0;
  }

private:
  unsigned up_to(unsigned most) { return std::uniform_int_distribution<unsigned>{0, most}(random_); }
  bool one_in(unsigned n) { return up_to(n - 1) == 0; }

  static void step() {
    const char byte = 's';
    static_cast<void>(!::write(STDOUT_FILENO, &byte, 1));
  }

  static ledger::Patience patience() {
    ledger::Patience patience;
    patience.until = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    patience.notice_after = std::chrono::milliseconds{0};
    patience.on_wait = [](const ledger::Blocked&) { step(); };
    return patience;
  }

  bool enter() {
    Ledger::EnterRequest request;
    request.who = name_;
    request.gpus = one_in(4) ? 2 : 1;
    request.candidates = request.gpus == 2 || one_in(2) ? all_ : policy::DeviceMask{1} << up_to(1);
    request.overhead_bytes = 10 + up_to(30);
    request.largest_bytes = largest_ = 100 + up_to(400);
    request.whole_devices = whole_ = one_in(6);
    const Result result = ledger_.enter(request, patience());
    if (result.kind != Result::Kind::granted) {
      return false;
    }
    devices_ = result.devices;
    for (std::size_t d = 0; d < StormOracle::devices; ++d) {
      use_.inside.at(d) = (devices_ >> d & 1U) != 0;
      use_.overhead_bytes.at(d) = use_.inside.at(d) ? static_cast<std::uint32_t>(request.overhead_bytes) : 0;
    }
    oracle_->use(number_, use_);
    step();
    return true;
  }

  bool run_test() {
    Ledger::LeaseRequest request;
    request.who = name_;
    request.devices = one_in(2) ? devices_ : devices_ & (~devices_ + 1);
    request.exclusive = whole_ && one_in(2);
    request.seat = !request.exclusive && one_in(3);
    request.bytes = request.exclusive ? 0 : up_to(largest_);
    auto patience = Process::patience();
    patience.may_wait = !one_in(5);
    const Result result = ledger_.lease(request, patience);
    if (result.kind == Result::Kind::would_wait && !patience.may_wait) {
      return true;
    }
    if (result.kind != Result::Kind::granted) {
      return false;
    }
    const StormOracle::Use before = use_;
    for (std::size_t d = 0; d < StormOracle::devices; ++d) {
      if ((request.devices >> d & 1U) != 0) {
        use_.leased_bytes.at(d) = static_cast<std::uint32_t>(request.bytes);
        use_.exclusive.at(d) = request.exclusive;
        use_.seat.at(d) = request.seat;
      }
    }
    oracle_->use(number_, use_);
    step();
    ::usleep(up_to(2000)); // the test itself
    use_ = before;
    oracle_->use(number_, use_);
    step();
    ledger_.release();
    return true;
  }

  std::string name_;
  std::size_t number_;
  std::mt19937 random_;
  std::shared_ptr<StormOracle> oracle_;
  Ledger ledger_;
  policy::DeviceMask all_ = 0;
  policy::DeviceMask devices_ = 0;
  unsigned largest_ = 0;
  bool whole_ = false;
  StormOracle::Use use_;
};

} // namespace

int main(int argc, char** argv) { return argc == 6 ? Process{argv}.run(std::stoi(argv[5])) : 2; }
