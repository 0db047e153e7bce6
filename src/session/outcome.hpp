#pragma once

#include <string>

namespace gputest::session {

/// What came of asking for devices or memory.
struct Outcome {
  enum class Kind { granted, skip, fail };
  Kind kind = Kind::granted;
  std::string reason;     ///< of a skip or a failure: what was asked, what was seen, what to do
  bool not_freed = false; ///< fail: the memory did not become free, in time or at all
};

} // namespace gputest::session
