// SPDX-License-Identifier: BSD-3-Clause
// What the parts for test frameworks need of the core, for machines on which gputest leases nothing.
#include "core/settings/settings.hpp"

#include <gputest/device.hpp>
#include <gputest/outcome.hpp>
#include <gputest/simulated_buffer.hpp>
#include <gputest/test_list.hpp>
#include <gputest/test_run.hpp>

#include <cstdlib>
#include <utility>

namespace gputest {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): before any thread
  return value == nullptr ? "" : value;
}

} // namespace

std::optional<std::string> settings::test_list_file() {
  auto file = variable("GPUTEST_LIST_FILE");
  return file.empty() ? std::nullopt : std::optional{std::move(file)};
}

Entry entry_from_environment() {
  Entry entry;
  auto memory = variable("GPUTEST_MEMORY");
  if (memory.rfind("auto", 0) == 0) { // or `auto alone`: nothing is measured here
    memory.replace(0, 4, "small");
  }
  const auto gpus = variable("GPUTEST_GPUS");
  entry.no_gpu = memory == "none" || (memory.empty() && gpus == "0");
  if (!entry.no_gpu) {
    entry.request = parse_request(memory.empty() ? "small" : memory, "GPUTEST_MEMORY");
    entry.request.gpus = gpus.empty() ? 1 : std::atoi(gpus.c_str()); // NOLINT(cert-err34-c): CMake has checked it
  }
  return entry;
}

const std::vector<Device>& current_devices() {
  static const std::vector<Device> none;
  return none;
}

namespace detail {

struct TestRun::State {};
TestRun::TestRun() = default;

TestRun& TestRun::of_process() {
  static TestRun run;
  return run;
}

bool TestRun::no_gpu() const { return entry_from_environment().no_gpu; }

int TestRun::exit_code(int status) noexcept { // an entry has GPUTEST_MEMORY, and nobody watches it
  if (status != skipped_exit_code || variable("GPUTEST_MEMORY").empty()) {
    return status;
  }
  const bool is_of_script = variable("GPUTEST_ENTRY").find(" script") != std::string::npos; // may leave out the rest
  return is_of_script ? EXIT_SUCCESS : unwatched_skip_code;
}

} // namespace detail

// A device without an end, which exists in this process only.
SimulatedBuffer::SimulatedBuffer(Bytes size, int index) : size_{size}, index_{index} {}
SimulatedBuffer::SimulatedBuffer(SimulatedBuffer&& other) noexcept
    : size_{std::exchange(other.size_, {})}, index_{other.index_} {}
SimulatedBuffer& SimulatedBuffer::operator=(SimulatedBuffer&& other) noexcept {
  size_ = std::exchange(other.size_, {});
  index_ = other.index_;
  return *this;
}
SimulatedBuffer::~SimulatedBuffer() = default;
bool devices_are_simulated() { return variable("GPUTEST_DEVICES").rfind("simulated", 0) == 0; }

} // namespace gputest
