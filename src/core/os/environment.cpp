// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/environment.hpp"

#include <cstdlib>

#include <unistd.h>

namespace gputest::os {

std::optional<std::string> read_variable(const char* name) {
  const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): before the tests start their threads
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

std::string variable(const char* name) { return read_variable(name).value_or(""); }

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    all.emplace_back(*each);
  }
  return all;
}

std::vector<std::string> variables_with(const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& text : environment()) {
    if (text.compare(0, prefix.size(), prefix) == 0) {
      names.push_back(text.substr(0, text.find('=')));
    }
  }
  return names;
}

void set_variable(const char* name, const std::string& value) {
  ::setenv(name, value.c_str(), 1); // NOLINT(concurrency-mt-unsafe): as above
}

void remove_variable(const char* name) { ::unsetenv(name); } // NOLINT(concurrency-mt-unsafe): as above

} // namespace gputest::os
