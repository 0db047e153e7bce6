#include "platform/environment.hpp"

#include <cstdlib>

namespace gputest::platform {

std::optional<std::string> read_variable(const char* name) {
  const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): before the tests start their threads
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

void set_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1); // NOLINT(concurrency-mt-unsafe): as above
}

void remove_variable(const char* name) { ::unsetenv(name); } // NOLINT(concurrency-mt-unsafe): as above

} // namespace gputest::platform
