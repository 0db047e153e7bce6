// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzzer without libFuzzer: on every file of a corpus, and on so many mutations of each, the same ones always.
//
//   fuzz_<name> <folder of a corpus, or a file>... [--mutations N]
//
// An input that ends the process is left in ./failing-input-<name>.

#include "proofs/fuzz/fuzzer.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using Input = std::vector<std::uint8_t>;

Input current;
std::string left_in;

// Only what a signal handler may do.
void leave_the_input(int signal) {
  const int file = ::open(left_in.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  [[maybe_unused]] auto written = ::write(file, current.data(), current.size());
  written = ::write(STDERR_FILENO, left_in.data(), left_in.size());
  const std::string_view rest = " is the input that ended this process\n";
  written = ::write(STDERR_FILENO, rest.data(), rest.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(Input input) {
  current = std::move(input);
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

Input read(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  gputest::tests::require(file.good(), "an input can be read", path);
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<Input> read_all(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return {read(path)};
  }
  std::vector<fs::path> files{fs::directory_iterator{path}, {}};
  std::sort(files.begin(), files.end()); // the same order everywhere, so that mutations are the same
  std::vector<Input> inputs;
  std::transform(files.begin(), files.end(), std::back_inserter(inputs), read);
  return inputs;
}

/// Mutations as libFuzzer makes them, but for its knowledge of what they reach.
class Mutator {
public:
  explicit Mutator(const std::vector<Input>& inputs) : inputs_{&inputs} {}

  Input mutate(Input input) {
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) {
      change(input);
    }
    return input;
  }

private:
  // Not std::uniform_int_distribution, which differs between libraries.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }

  void change(Input& input) {
    const auto at = static_cast<Input::difference_type>(below(input.size() + 1));
    const auto place = input.begin() + at;
    const auto length = static_cast<Input::difference_type>(
        1 + below(std::min<std::size_t>(8, std::max<std::size_t>(1, input.size() - static_cast<std::size_t>(at)))));
    switch (below(5)) {
    case 0:
      input.insert(place, static_cast<std::uint8_t>(below(256)));
      return;
    case 1:
      input.erase(place, std::min(place + length, input.end()));
      return;
    case 2: {
      const Input again(place, std::min(place + length, input.end()));
      input.insert(place, again.begin(), again.end());
      return;
    }
    case 3: {
      const Input& other = (*inputs_)[below(inputs_->size())];
      const auto from = static_cast<Input::difference_type>(below(other.size() + 1));
      input.insert(place, other.begin() + from, other.end());
      return;
    }
    default:
      if (place != input.end()) {
        *place = static_cast<std::uint8_t>(*place ^ (1U << below(8)));
      }
    }
  }

  const std::vector<Input>* inputs_;
  std::mt19937_64 random_{20250101}; // NOLINT(cert-msc32-c,cert-msc51-cpp): the same inputs in every run
};

} // namespace

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  left_in = fs::absolute("failing-input-" + fs::path{values[0]}.filename().string());
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) {
    std::signal(signal, leave_the_input);
  }
  std::vector<Input> inputs;
  unsigned long mutations = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--mutations" && i + 1 < arguments.size()) {
      mutations = std::stoul(arguments[++i]);
      continue;
    }
    const auto more = read_all(arguments[i]);
    inputs.insert(inputs.end(), more.begin(), more.end());
  }
  gputest::tests::require(!inputs.empty(), "there is an input to run");
  Mutator mutator{inputs};
  run({});
  for (const Input& input : inputs) {
    run(input);
    for (unsigned long i = 0; i < mutations; ++i) {
      run(mutator.mutate(input));
    }
  }
  std::printf("%zu files, each with %lu mutations\n", inputs.size(), mutations);
}
