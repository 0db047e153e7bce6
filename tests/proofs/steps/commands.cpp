// SPDX-License-Identifier: BSD-3-Clause
#include "proofs/steps/commands.hpp"

#include "proofs/steps/faults.hpp"

#include <algorithm>
#include <chrono>

namespace gputest::tests {

using ledger::Ledger;
using ledger::Result;

bool has_option(const Words& words, const char* option) {
  return std::find(words.begin(), words.end(), option) != words.end();
}

Ledger::EnterRequest enter_request(const Words& words, const std::string& who) {
  Ledger::EnterRequest request;
  request.who = who;
  request.candidates = std::stoul(words.at(1));
  request.gpus = static_cast<unsigned>(std::stoul(words.at(2)));
  request.overhead_bytes = std::stoul(words.at(3));
  request.largest_bytes = std::stoul(words.at(4));
  request.whole_devices = has_option(words, "whole");
  return request;
}

Ledger::LeaseRequest lease_request(const Words& words, const std::string& who) {
  Ledger::LeaseRequest request;
  request.who = who;
  request.devices = std::stoul(words.at(1));
  request.bytes = std::stoul(words.at(2));
  request.exclusive = has_option(words, "exclusive");
  request.medium_lock = has_option(words, "medium_lock");
  return request;
}

namespace {

ledger::Patience& patience_of_this_process() {
  static ledger::Patience patience;
  return patience;
}

} // namespace

std::uintptr_t address_of_limit() {
  static_assert(sizeof(ledger::Patience::until) == sizeof(long), "ptrace() writes words");
  return reinterpret_cast<std::uintptr_t>(&patience_of_this_process().until);
}

const ledger::Patience& patience(const Words& words) {
  ledger::Patience& patience = patience_of_this_process();
  patience = {};
  if (has_option(words, "at-once")) {
    patience.until = std::chrono::steady_clock::now();
  }
  if (has_option(words, "briefly")) {
    patience.until = std::chrono::steady_clock::now() + longest_wait; // it passes as soon as the process sleeps
  }
  patience.notice_after = std::chrono::hours{24};
  patience.observation_lasts = std::chrono::milliseconds::max();
  return patience;
}

std::string in_words(const Result& result) {
  switch (result.kind) {
  case Result::Kind::granted:
    return "granted " + std::to_string(result.devices);
  case Result::Kind::refused:
    return "refused";
  case Result::Kind::would_wait:
    return "would wait";
  case Result::Kind::timed_out:
    return "timed out";
  case Result::Kind::stuck:
    return "stuck";
  case Result::Kind::unannounced:
    return "unannounced";
  }
  return "unknown";
}

} // namespace gputest::tests
