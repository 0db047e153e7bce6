// SPDX-License-Identifier: BSD-3-Clause
#include "crowd.hpp"
#include "fate.hpp"
#include "oracle.hpp"

#include "core/ledger/ledger.hpp"
#include "core/os/kernel_clock.hpp"

#include <poll.h>
#include <unistd.h>

#include <exception>
#include <memory>
#include <optional>
#include <random>

namespace gputest::tests::storm {

using ledger::Ledger;
using ledger::Patience;
using ledger::Result;
using policy::DeviceMask;
using std::chrono::steady_clock;

namespace {

constexpr unsigned most_leases = 6;

class Life {
public:
  Life(Board& board, std::string folder, std::uint64_t number, unsigned seed)
      : board_{&board}, folder_{std::move(folder)}, name_{std::to_string(number)}, row_{&board.row_of(number)},
        random_{seed}, fate_{random_, 2 + 2 * most_leases}, oracle_{std::make_shared<Oracle>(board, number)} {
    oracle_->on_look = [this] { fate_.in_the_ledger(); };
  }

  void run() {
    open();
    enter();
    const bool is_worker = one_in(3);
    bool stays = true;
    for (unsigned leases = 1 + up_to(most_leases - 1); stays && leases > 0 && board_->phase != Phase::thaw; --leases) {
      lease();
      stays = !is_worker || finds_work();
    }
    for (Phase phase = board_->phase; stays && phase != Phase::storm; phase = board_->phase) {
      park(phase);
    }
    row_->doing = Doing::ended;
    if (!one_in(8)) { // or it ends without giving back what its context takes
      oracle_->use({});
    }
  }

private:
  unsigned up_to(unsigned most) { return std::uniform_int_distribution<unsigned>{0, most}(random_); }
  bool one_in(unsigned n) { return up_to(n - 1) == 0; }

  void begin(Doing doing) {
    row_->doing = doing;
    fate_.begin_operation();
  }

  void park(Phase phase) {
    row_->pulse = Pulse::parked;
    board_->wait_while(phase);
    row_->pulse = Pulse::runs;
  }

  [[noreturn]] void fail(const std::string& what) {
    board_->violate(Rule::failure, "process " + name_ + ": " + what);
    ::_exit(1);
  }

  void open() {
    begin(Doing::starting);
    ledger_.emplace(folder_, oracle_);
    for (std::size_t device = 0; device < board_->devices; ++device) {
      if (ledger_->devices().bit_of("device-" + std::to_string(device)) != DeviceMask{1} << device) {
        fail("device " + std::to_string(device) + " has another one's place in the table");
      }
    }
  }

  DeviceMask some_of(DeviceMask devices) {
    const DeviceMask some = devices & up_to((1U << board_->devices) - 1);
    return some == 0 ? devices : some;
  }

  static unsigned count(DeviceMask devices) { return static_cast<unsigned>(__builtin_popcountll(devices)); }

  Patience patience() {
    Patience patience;
    patience.may_wait = !one_in(6);
    patience.notice_after = std::chrono::milliseconds{0};
    patience.observation_lasts = std::chrono::milliseconds{250};
    patience.on_wait = [this](const ledger::Blocked&) {
      oracle_->is_queued();
      ++board_->waits;
      waits_since_ = steady_clock::now();
      row_->pulse = hurries_ ? Pulse::runs : Pulse::queued;
      fate_.in_the_ledger();
      linger();
    };
    return patience;
  }

  void note_end_of_wait() {
    row_->pulse = Pulse::runs;
    if (waits_since_) {
      const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - *waits_since_);
      raise_to(board_->longest_wait_us, static_cast<std::uint64_t>(waited.count()));
      waits_since_.reset();
    }
  }

  void enter() {
    Ledger::EnterRequest request;
    request.who = name_;
    request.candidates = some_of(board_->open_devices);
    request.gpus = one_in(3) ? 1 + up_to(count(request.candidates) - 1) : 1;
    request.overhead_bytes = overhead_bytes_ = 4 + up_to(6);
    if (one_in(3)) {
      request.overhead_bytes += 50 + up_to(150); // its context turns out to be smaller than it thinks
    }
    request.largest_bytes = largest_ = 100 + up_to(650);
    request.whole_devices = whole_ = one_in(board_->whole_one_in);
    auto patience = Life::patience();
    patience.may_wait = true;
    oracle_->asks(true, request.candidates);
    begin(Doing::entering);
    const Result result = ledger_->enter(request, patience);
    note_end_of_wait();
    devices_ = result.devices;
    if (result.kind != Result::Kind::granted || (devices_ & ~request.candidates) != 0 ||
        count(devices_) != request.gpus) {
      fail("asked to enter, and was answered " + std::to_string(static_cast<int>(result.kind)) + " with devices " +
           std::to_string(devices_));
    }
    oracle_->is_granted(devices_);
    ++board_->entries;
    ++board_->steps;
    announced_overhead_bytes_ = request.overhead_bytes;
    use_overhead(announced_overhead_bytes_, 0);
    row_->doing = Doing::inside;
  }

  /// Changes what it uses of each of these devices.
  template <class Change>
  void use(DeviceMask devices, Change change) {
    for (std::size_t device = 0; device < board_->devices; ++device) {
      if ((devices >> device & 1U) != 0) {
        change(uses_.at(device));
      }
    }
    oracle_->use(uses_);
  }

  void use_overhead(std::uint64_t bytes, std::uint64_t unsettled_bytes) {
    use(devices_, [&](Use& use) {
      use.inside = true;
      use.overhead_bytes = static_cast<std::uint16_t>(bytes);
      use.unsettled_bytes = static_cast<std::uint16_t>(unsettled_bytes);
    });
  }

  void correct_overhead() {
    if (announced_overhead_bytes_ != overhead_bytes_) {
      use_overhead(overhead_bytes_, announced_overhead_bytes_ - overhead_bytes_);
      ledger_->set_overhead(overhead_bytes_);
      announced_overhead_bytes_ = overhead_bytes_;
      ++board_->overhead_changes;
      use_overhead(overhead_bytes_, 0);
    }
  }

  void lease() {
    if (one_in(4)) {
      begin(Doing::inside);
      correct_overhead();
    }
    Ledger::LeaseRequest request;
    request.who = name_;
    request.devices = some_of(devices_);
    auto patience = Life::patience();
    // Who has not announced it when it entered may not wait for whole devices, but may try.
    request.exclusive = whole_ ? one_in(2) : !patience.may_wait && one_in(3);
    request.medium_lock = !request.exclusive && one_in(3);
    const bool larger = one_in(16); // than it has announced
    request.bytes = request.exclusive ? 0 : (one_in(3) ? largest_ : up_to(largest_)) + (larger ? largest_ : 0);
    hurries_ = one_in(4);
    if (hurries_) {
      patience.until = os::KernelClock::now() + std::chrono::microseconds{up_to(one_in(2) ? 1000 : 20000)};
    }
    oracle_->asks(false, request.devices, request.bytes, announced_overhead_bytes_, request.exclusive,
                  request.medium_lock);
    begin(Doing::leasing);
    const Result result = ledger_->lease(request, patience);
    note_end_of_wait();
    row_->doing = Doing::inside;
    if (result.kind != Result::Kind::granted) {
      oracle_->ends();
    }
    if ((result.kind == Result::Kind::would_wait && !patience.may_wait) ||
        (result.kind == Result::Kind::timed_out && hurries_) ||
        ((result.kind == Result::Kind::unannounced || result.kind == Result::Kind::refused) && larger)) {
      return;
    }
    if (result.kind != Result::Kind::granted) {
      fail("asked for a lease, and was answered " + std::to_string(static_cast<int>(result.kind)));
    }
    oracle_->is_granted(request.devices);
    hold(request);
    begin(Doing::releasing);
    ledger_->release();
    ++board_->steps;
    row_->doing = Doing::inside;
  }

  void hold(const Ledger::LeaseRequest& request) {
    row_->doing = Doing::holding;
    use(request.devices, [&](Use& use) {
      use.leased_bytes = static_cast<std::uint16_t>(request.bytes);
      use.exclusive = request.exclusive;
      use.medium_lock = request.medium_lock;
    });
    oracle_->look_who_is_delayed();
    ++board_->leases;
    ++board_->steps;
    linger();
    ::usleep(up_to(200)); // the test itself
    if (one_in(3)) {
      grow(request);
    }
    if (board_->phase == Phase::freeze) {
      ::usleep(up_to(1000)); // so that others come to wait for what is given back here
      correct_overhead();
      park(Phase::freeze);
    }
    use(request.devices, [](Use& use) {
      use.leased_bytes = 0;
      use.exclusive = false;
      use.medium_lock = false;
    });
    oracle_->ends();
  }

  /// Asks for a larger lease while it holds one.
  void grow(const Ledger::LeaseRequest& request) {
    const std::uint64_t bytes = request.bytes + 1 + up_to(300);
    const auto use_lease = [&](std::uint64_t held_bytes, std::uint64_t unsettled_bytes) {
      use(request.devices, [&](Use& use) {
        use.leased_bytes = static_cast<std::uint16_t>(held_bytes);
        use.unsettled_bytes = static_cast<std::uint16_t>(unsettled_bytes);
      });
    };
    use_lease(request.bytes, bytes - request.bytes);
    oracle_->grows(request.bytes);
    begin(Doing::growing);
    const bool grown = ledger_->grow(bytes);
    row_->doing = Doing::holding;
    ++board_->steps;
    const bool larger = grown && !request.exclusive;
    use_lease(larger ? bytes : request.bytes, 0);
    if (!larger) {
      return;
    }
    ++board_->grown;
    oracle_->look_who_is_delayed_by_growth();
    linger();
  }

  /// Is idle until it has work again. False if it has to leave instead.
  bool finds_work() {
    begin(Doing::idle);
    ledger_->set_idle();
    ++board_->idle;
    linger();
    const auto work_at = steady_clock::now() + std::chrono::microseconds{up_to(one_in(4) ? 5000 : 300)};
    pollfd notified{ledger_->leave_descriptor(), POLLIN, 0};
    while (!ledger_->has_to_leave() && (board_->phase != Phase::storm || steady_clock::now() < work_at)) {
      row_->pulse = board_->phase == Phase::storm ? Pulse::runs : Pulse::parked;
      ::poll(&notified, 1, 1); // the phase may change
    }
    row_->pulse = Pulse::runs;
    begin(Doing::idle);
    const bool resumes = ledger_->resume();
    ++(resumes ? board_->resumed : board_->left);
    return resumes;
  }

  /// Leaves a child behind, from time to time: it keeps the wake-up FIFO and the memory of its parent, which dies
  /// before it.
  void linger() {
    if (!one_in(100)) {
      return;
    }
    ++board_->forks;
    const useconds_t outlives = 1 + up_to(5000);
    if (::fork() == 0) {
      ledger_->release(); // which is not the child's to give back
      if (ledger_->grow(device_bytes)) {
        fail("a forked child has made its parent's lease grow");
      }
      ::usleep(outlives);
      ::_exit(0);
    }
    fate_.hasten();
  }

  Board* board_;
  std::string folder_;
  std::string name_;
  Row* row_;
  std::mt19937 random_;
  Fate fate_;
  std::shared_ptr<Oracle> oracle_;
  std::optional<Ledger> ledger_;
  DeviceMask devices_ = 0;
  std::uint64_t overhead_bytes_ = 0;
  std::uint64_t announced_overhead_bytes_ = 0;
  unsigned largest_ = 0;
  bool whole_ = false;
  bool hurries_ = false; ///< its request ends by itself
  Oracle::Uses uses_{};
  std::optional<steady_clock::time_point> waits_since_;
};

} // namespace

int live(Board& board, const std::string& folder, std::uint64_t number, unsigned seed) {
  try {
    Life{board, folder, number, seed}.run();
  } catch (const std::exception& error) {
    board.violate(Rule::failure, "process " + std::to_string(number) + ": " + error.what());
    return 1;
  }
  return 0;
}

} // namespace gputest::tests::storm
