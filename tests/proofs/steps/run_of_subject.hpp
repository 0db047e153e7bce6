// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "proofs/steps/scene.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gputest::tests {

/// Brings the subject to the end of its operation; what came of it. `at_entry` and `at_exit` see its system calls.
template <class AtEntry, class AtExit>
std::string to_the_end(Scene& scene, AtEntry at_entry, AtExit at_exit) {
  constexpr std::size_t most_boundaries = 50000; // far more than any operation has: it goes round in circles
  for (std::size_t boundary = 0; boundary < most_boundaries; ++boundary) {
    switch (scene.advance()) {
    case Tracee::Stop::breakpoint:
      return scene.outcome();
    case Tracee::Stop::entry:
      at_entry();
      break;
    case Tracee::Stop::exit:
      at_exit();
      break;
    case Tracee::Stop::step:
      break;
    case Tracee::Stop::asleep:
      scene.quiesce();
      throw std::runtime_error{"the subject sleeps, and nobody is left who would wake it"};
    case Tracee::Stop::gone:
      throw std::runtime_error{"the subject was " + scene.subject().end()};
    }
  }
  throw std::runtime_error{"the subject does not come to an end"};
}

inline std::string to_the_end(Scene& scene) {
  return to_the_end(
      scene, [] {}, [] {});
}

} // namespace gputest::tests
