#pragma once

#include <gputest/requirement.hpp>

#include <vector>

namespace gputest::session {

/// What a process may ask for during its life, told when it enters.
struct Plan {
  std::vector<Requirement> requirements; ///< of all its tests, as far as known
  Capabilities capabilities;             ///< what its tests require, all together
  bool open_ended = false; ///< there may be tests whose requirement is not known yet: then a medium one is counted on
};

} // namespace gputest::session
