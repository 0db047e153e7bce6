#include "ledger/steps/commands.hpp"

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

ledger::Patience patience(const Words& words) {
  ledger::Patience patience;
  if (has_option(words, "at-once")) {
    patience.until = std::chrono::steady_clock::now();
  }
  if (has_option(words, "briefly")) {
    patience.until = std::chrono::steady_clock::now() + std::chrono::milliseconds{10};
  }
  if (has_option(words, "slowly")) {
    patience.until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
  }
  patience.notice_after = std::chrono::hours{24};
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
