// SPDX-License-Identifier: BSD-3-Clause
#include "support/hostile_acts.hpp"

#include "support/use_up_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace gputest::tests {

namespace {

constexpr int first = 3;
constexpr int most = 1024;

std::vector<int> descriptors_of(const std::string& name) {
  std::vector<int> numbers;
  for (int number = first; number < most; ++number) {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), error);
    if (!error && path.filename() == name) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

} // namespace

std::optional<std::string> hostile_act(const std::vector<std::string>& words) {
  const std::string& act = words.at(0);
  if (act == "close-all") {
    for (int number = first; number < most; ++number) {
      ::close(number);
    }
    return "closed all";
  }
  if (act == "close") {
    const auto numbers = descriptors_of(words.at(1));
    for (const int number : numbers) {
      ::close(number);
    }
    return "closed " + std::to_string(numbers.size());
  }
  if (act == "replace") {
    const auto numbers = descriptors_of(words.at(1));
    const int file = ::open(words.at(2).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    for (const int number : numbers) {
      ::dup2(file, number);
    }
    ::close(file);
    return "replaced " + std::to_string(numbers.size());
  }
  if (act == "use-up-descriptors") {
    const std::size_t left = words.size() > 1 ? std::stoul(words[1]) : 0;
    return std::string{use_up_descriptors(left).empty() ? "none was left" : "used up"};
  }
  return std::nullopt;
}

} // namespace gputest::tests
