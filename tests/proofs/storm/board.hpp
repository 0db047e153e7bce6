// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/policy/admission.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gputest::tests::storm {

constexpr std::size_t max_devices = 8;
constexpr std::uint64_t device_bytes = 1000;
constexpr std::size_t most_rows = 256;   ///< processes that run, or whose memory is not back yet
constexpr std::size_t most_grants = 512; ///< the last ones are remembered

/// What the driver has everybody do.
enum class Phase : std::uint32_t {
  storm,  ///< lease and give back
  freeze, ///< whoever holds a lease keeps it and does nothing
  thaw,   ///< whoever holds a lease gives it back, asks for no other and does nothing
};

/// What a process does.
enum class Doing : std::uint32_t {
  starting, ///< opens the ledger, or builds it
  entering,
  inside,
  leasing,
  holding,
  growing,
  releasing,
  idle, ///< until it has to leave, or has work again
  ended,
};
constexpr std::size_t doings = 9;

/// Whether a process can be expected to go on by itself.
enum class Pulse : std::uint32_t {
  runs,
  queued, ///< the ledger has said that it waits
  parked, ///< in a freeze or a thaw it waits for the driver, or is idle
};

/// What one process uses of one device, in one word, so that a kill leaves the old one or the new one. Each figure has
/// 12 bits.
struct Use {
  std::uint16_t overhead_bytes = 0;
  std::uint16_t leased_bytes = 0;
  /// What its record may count beyond these two. Raised before the ledger is asked to change the record, and cleared
  /// after the ledger has answered: a process that is killed or stopped in between may have either figure in its
  /// record.
  std::uint16_t unsettled_bytes = 0;
  bool inside = false;
  bool exclusive = false;
  bool medium_lock = false;
  std::uint32_t version = 0; ///< 24 bits: two reads that are equal were equal in between

  [[nodiscard]] std::uint64_t packed() const;
  static Use unpacked(std::uint64_t word);
};

/// A request for a lease that waits, for those that come later.
struct Waiting {
  std::atomic<std::uint64_t> queued_at; ///< a value of Board::clock; 0: nothing waits. Written last
  std::atomic<std::uint64_t> devices;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> overhead_changes; ///< Board::overhead_changes when it asked
};

/// What one process says of itself. In its own words and without the ledger's help.
struct Row {
  std::atomic<std::uint64_t> number; ///< of the process; its row is `number % most_rows`
  std::array<std::atomic<std::uint64_t>, max_devices> uses;
  std::atomic<Doing> doing;
  std::atomic<Pulse> pulse;
  std::atomic<std::uint64_t> holds_since; ///< when it asked for the lease that it holds
  Waiting waiting;                        ///< the lease that it waits for
  std::atomic<bool> was_stopped;          ///< since it asked
  std::atomic<std::uint64_t> delayed_at;  ///< `queued_at` of a request that a later one was seen to delay
};

/// One request that was granted. Moments are values of Board::clock.
struct Granted {
  std::uint64_t number = 0;
  bool enters = false;
  policy::DeviceMask asked = 0;
  policy::DeviceMask devices = 0;
  bool exclusive = false;
  bool medium_lock = false;
  std::uint64_t bytes = 0;     ///< of a lease and the process's context
  bool was_stopped = false;    ///< while it waited, so that it was passed
  std::uint64_t asked_at = 0;  ///< before it asked
  std::uint64_t queued_at = 0; ///< it was known to be in the queue; 0 if it never was
  std::uint64_t looked_at = 0; ///< its last look at the ledger: the one that granted

  /// Tells a grant that was read while it was written.
  [[nodiscard]] std::uint64_t sum() const;
};

/// A place in the list of grants.
struct GrantClient {
  Granted grant;
  std::atomic<std::uint64_t> sum; ///< of the grant, written last
};

/// What a storm can find.
enum class Rule : std::uint32_t {
  budget, ///< more bytes in use than there are, two in one medium lock, somebody beside who has the whole device
  order,  ///< a request was granted although an earlier one for one of the same devices still waited that it cannot run
          ///< beside
  delay,  ///< a request has no room beside a lease that was granted later, and had room without it
  bound,  ///< a request was passed by more grants than there are processes
  sleeper,  ///< everything is still, and a request that could be granted sleeps: a lost wake-up
  deadlock, ///< everything is still, nobody holds anything, and somebody waits for a lease
  stuck,    ///< no progress at all, or the ledger's mutex is not to be had
  remains,  ///< all processes have ended and the whole machine cannot be had at once
  failure,  ///< an answer that nobody asked for, or a process that ended in a way of its own
};
constexpr std::size_t rules = 9;
[[nodiscard]] const char* name_of(Rule rule);
[[nodiscard]] const char* name_of(Doing doing);

/// What the processes of a storm and their driver tell each other, in memory that all of them map. Starts as zeros.
struct Board {
  std::size_t devices;
  std::size_t processes;
  policy::DeviceMask open_devices; ///< those that are asked for in this round
  unsigned whole_one_in;           ///< of so many processes one may wait for whole devices
  std::atomic<Phase> phase;
  std::atomic<std::uint64_t> clock; ///< the order of things, for the oracle
  std::atomic<std::uint64_t> steps; ///< grows as long as anything gets on

  std::atomic<std::uint64_t> overhead_changes; ///< contexts that have shrunk, counted once the ledger knows
  std::size_t row_count;                       ///< of these, as many as are used: every look of a process reads them
  std::array<Row, most_rows> rows;
  std::atomic<std::uint64_t> granted;
  std::array<GrantClient, most_grants> grants;

  // Figures, for who reads the result.
  std::atomic<std::uint64_t> starts;
  std::atomic<std::uint64_t> finished;
  std::atomic<std::uint64_t> stops;
  std::atomic<std::uint64_t> kept_stopped; ///< of these, those that stayed so until all others had come to rest
  std::atomic<std::uint64_t> rounds;
  std::atomic<std::uint64_t> entries;
  std::atomic<std::uint64_t> leases;
  std::atomic<std::uint64_t> grown; ///< leases
  std::atomic<std::uint64_t> waits;
  std::atomic<std::uint64_t> forks;
  std::atomic<std::uint64_t> idle;                             ///< times that a process was idle
  std::atomic<std::uint64_t> resumed;                          ///< that it had work again
  std::atomic<std::uint64_t> left;                             ///< that it had to leave
  std::array<std::atomic<std::uint64_t>, 32> killed_by;        ///< by signal
  std::array<std::atomic<std::uint64_t>, doings> killed_while; ///< by what they did
  std::atomic<std::uint64_t> most_passed; ///< grants that any request saw on its devices while it waited
  std::atomic<std::uint64_t> longest_wait_us;
  double seconds;

  std::array<std::atomic<std::uint32_t>, rules> broken;
  std::atomic<bool> told;
  std::array<char, 4096> first; ///< the first violation, in words

  /// Notes a violation.
  void violate(Rule rule, const std::string& what);
  [[nodiscard]] std::uint32_t violations() const;
  [[nodiscard]] std::uint64_t kills() const;

  /// Has everybody do something else; blocks as long as everybody is to do `phase`.
  void set_phase(Phase phase);
  void wait_while(Phase phase);

  [[nodiscard]] Row& row_of(std::uint64_t number) { return rows.at(number % most_rows); }
  std::uint64_t now() { return ++clock; }
};

/// A board in memory that this process shares with those that it forks.
class SharedBoard {
public:
  SharedBoard();
  ~SharedBoard();
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  [[nodiscard]] Board& operator*() const { return *board_; }
  [[nodiscard]] Board* operator->() const { return board_; }

private:
  Board* board_;
};

/// Raises a shared figure to `value` if that is larger.
void raise_to(std::atomic<std::uint64_t>& figure, std::uint64_t value);

} // namespace gputest::tests::storm
