// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>

namespace gputest::tests {

/// What an environment variable tells a fake driver, as `key=text` in words; read again each time.
class FakeWords {
public:
  explicit FakeWords(const char* variable) : variable_{variable} {}

  /// The text after `key=`, empty if it is not there.
  [[nodiscard]] std::string word(const std::string& key) const {
    const char* all = std::getenv(variable_);
    std::istringstream words{all != nullptr ? all : ""};
    for (std::string one; words >> one;) {
      if (one.rfind(key + "=", 0) == 0) {
        return one.substr(key.size() + 1);
      }
    }
    return {};
  }

  /// The number at `index` of those after `key=`, or the last one that there is; `otherwise` if there is none.
  [[nodiscard]] unsigned long long number_at(const std::string& key, unsigned index,
                                             unsigned long long otherwise) const {
    std::istringstream numbers{word(key)};
    std::string number;
    for (unsigned i = 0; i <= index && std::getline(numbers, number, ','); ++i) {
      otherwise = std::stoull(number);
    }
    return otherwise;
  }

private:
  const char* variable_;
};

} // namespace gputest::tests
