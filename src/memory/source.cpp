#include "memory/source.hpp"

#include <gputest/simulated_buffer.hpp>

namespace gputest::memory {

Source& Source::instance() {
  // Never destroyed: memory may be freed by a global variable's destructor.
  static Source& source =
      *[] { return (devices_are_simulated() ? make_simulated_source() : make_real_source()).release(); }();
  return source;
}

} // namespace gputest::memory
