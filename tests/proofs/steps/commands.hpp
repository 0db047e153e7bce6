// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/ledger/ledger.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputest::tests {

/// A command of actor_program.hpp: its name, and what follows it.
using Words = std::vector<std::string>;

[[nodiscard]] bool has_option(const Words& words, const char* option);

[[nodiscard]] ledger::Ledger::EnterRequest enter_request(const Words& words, const std::string& who);
[[nodiscard]] ledger::Ledger::LeaseRequest lease_request(const Words& words, const std::string& who);

/// Waits without time-outs, unless an option says otherwise: a process that has to be woken and is not sleeps for ever.
/// Nothing depends on the clock, so a request makes the same system calls each time. The object stays in its place.
[[nodiscard]] const ledger::Patience& patience(const Words& words);

/// Where a process of this program has the limit of its request, as ticks of its clock: who traces it can let it pass.
[[nodiscard]] std::uintptr_t address_of_limit();

/// What an actor answers.
[[nodiscard]] std::string in_words(const ledger::Result& result);

} // namespace gputest::tests
