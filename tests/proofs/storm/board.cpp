// SPDX-License-Identifier: BSD-3-Clause
#include "board.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <numeric>

namespace gputest::tests::storm {

namespace {

constexpr unsigned leased_shift = 12;
constexpr unsigned unsettled_shift = 24;
constexpr unsigned flags_shift = 36;
constexpr std::uint64_t most_bytes = (1U << leased_shift) - 1;
constexpr unsigned version_shift = 40;

} // namespace

std::uint64_t Use::packed() const {
  const unsigned flags = (inside ? 1U : 0U) | (exclusive ? 2U : 0U) | (medium_lock ? 4U : 0U);
  return overhead_bytes | std::uint64_t{leased_bytes} << leased_shift |
         std::uint64_t{unsettled_bytes} << unsettled_shift | std::uint64_t{flags} << flags_shift |
         std::uint64_t{version} << version_shift;
}

Use Use::unpacked(std::uint64_t word) {
  Use use;
  use.overhead_bytes = static_cast<std::uint16_t>(word & most_bytes);
  use.leased_bytes = static_cast<std::uint16_t>(word >> leased_shift & most_bytes);
  use.unsettled_bytes = static_cast<std::uint16_t>(word >> unsettled_shift & most_bytes);
  const auto flags = static_cast<unsigned>(word >> flags_shift);
  use.inside = (flags & 1U) != 0;
  use.exclusive = (flags & 2U) != 0;
  use.medium_lock = (flags & 4U) != 0;
  use.version = static_cast<std::uint32_t>(word >> version_shift);
  return use;
}

std::uint64_t Granted::sum() const {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  std::uint64_t sum = odd;
  for (const std::uint64_t value :
       {number, std::uint64_t{enters}, asked, devices, bytes, std::uint64_t{exclusive}, std::uint64_t{medium_lock},
        std::uint64_t{was_stopped}, asked_at, queued_at, looked_at}) {
    sum = (sum ^ value) * odd;
  }
  return sum;
}

const char* name_of(Rule rule) {
  constexpr std::array<const char*, rules> names{"budget",   "order", "delay",   "bound",  "sleeper",
                                                 "deadlock", "stuck", "remains", "failure"};
  return names.at(static_cast<std::size_t>(rule));
}

const char* name_of(Doing doing) {
  constexpr std::array<const char*, doings> names{"starting", "entering",  "inside", "leasing", "holding",
                                                  "growing",  "releasing", "idle",   "ended"};
  return names.at(static_cast<std::size_t>(doing));
}

void Board::violate(Rule rule, const std::string& what) {
  ++broken.at(static_cast<std::size_t>(rule));
  if (!told.exchange(true)) {
    const std::string text = std::string{name_of(rule)} + ": " + what;
    std::copy_n(text.begin(), std::min(text.size(), first.size() - 1), first.begin());
  }
}

std::uint32_t Board::violations() const { return std::accumulate(broken.begin(), broken.end(), std::uint32_t{0}); }

std::uint64_t Board::kills() const { return std::accumulate(killed_by.begin(), killed_by.end(), std::uint64_t{0}); }

// A futex on the phase itself: whoever is killed while it sleeps on one leaves nothing behind.
static_assert(sizeof(std::atomic<Phase>) == sizeof(std::uint32_t));

void Board::set_phase(Phase next) {
  phase = next;
  ::syscall(SYS_futex, &phase, FUTEX_WAKE, most_rows, nullptr, nullptr, 0);
}

void Board::wait_while(Phase now) {
  while (phase == now) {
    ::syscall(SYS_futex, &phase, FUTEX_WAIT, static_cast<std::uint32_t>(now), nullptr, nullptr, 0);
  }
}

SharedBoard::SharedBoard() {
  void* const memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc{};
  }
  board_ = new (memory) Board{};
}

SharedBoard::~SharedBoard() { ::munmap(board_, sizeof(Board)); }

void raise_to(std::atomic<std::uint64_t>& figure, std::uint64_t value) {
  for (std::uint64_t seen = figure; seen < value && !figure.compare_exchange_weak(seen, value);) {
  }
}

} // namespace gputest::tests::storm
