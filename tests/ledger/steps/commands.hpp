#pragma once

#include "ledger/ledger.hpp"

#include <string>
#include <vector>

namespace gputest::tests {

/// A command of actor_program.hpp: its name, and what follows it.
using Words = std::vector<std::string>;

[[nodiscard]] bool has_option(const Words& words, const char* option);

[[nodiscard]] ledger::Ledger::EnterRequest enter_request(const Words& words, const std::string& who);
[[nodiscard]] ledger::Ledger::LeaseRequest lease_request(const Words& words, const std::string& who);

/// Waits without time-outs, unless an option says how long: who has to be woken and is not sleeps for ever.
[[nodiscard]] ledger::Patience patience(const Words& words);

/// What an actor answers.
[[nodiscard]] std::string in_words(const ledger::Result& result);

} // namespace gputest::tests
