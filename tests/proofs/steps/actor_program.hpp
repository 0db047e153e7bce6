// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/actor.hpp"

#include <cstddef>
#include <cstdint>

namespace gputest::tests {

/// What the process of an actor does: reads one command a line, and answers each with a line: what came of it. Bytes
/// are plain numbers, devices are sets of bits, its name is its number.
///
///   open                                                          the ledger
///   enter <candidates> <gpus> <overhead> <largest> [<option>...]  lease <devices> <bytes> [<option>...]
///   grow <bytes> (`grown` or `not grown`)   release   overhead <bytes>
///   set_idle   resume   idle (sets itself idle, and sleeps until it has to leave: then it ends, without an answer)
///   alive        who is on the ledger and alive        admissible   who waits, and could go on
///   beyond       who uses more than its record covers
///   store        a slot store of four slots            simulated    the memory of simulated devices
///   allocate <bytes>   free <bytes>   used             of the only one, 900 bytes large
///
/// Options: whole, exclusive, medium lock, at-once (wait for no time at all), briefly (until it sleeps: its tracer lets
/// the limit pass then).
///
/// `traced` before a command stops at a breakpoint before and after what the library does for it. What the process uses
/// it tells the oracle outside of the two: after it was given something, and before it gives it back.
int run_actor_program(const Actor::Client& place, int input, int output);

constexpr std::size_t scenario_devices = 2; ///< which the ledger of a scenario knows, of 1000 bytes each

/// Where a process of this program has the limit of its request, as ticks of its clock: who traces it can let it pass.
[[nodiscard]] std::uintptr_t address_of_limit();

} // namespace gputest::tests
