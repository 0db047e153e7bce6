// SPDX-License-Identifier: BSD-3-Clause
// ctest's command line. An input's first line is CTEST_PARALLEL_LEVEL and its second the preset's jobs (`-` for none),
// and each further one an argument.

#include "core/policy/run_mode.hpp"
#include "proofs/fuzz/fuzzer.hpp"
#include "proofs/fuzz/tokens.hpp"

using namespace gputest;
using policy::RunMode;
using tests::require;

namespace {

std::optional<std::string> unless_dash(std::string_view text) {
  return text == "-" ? std::nullopt : std::optional{std::string{text}};
}

policy::CtestSighting read_sighting(std::string_view input) {
  tests::Tokens lines{input};
  policy::CtestSighting sighting;
  sighting.parallel_level = unless_dash(lines.line());
  sighting.preset_jobs = unless_dash(lines.line());
  while (!lines.rest().empty()) {
    sighting.arguments.emplace_back(lines.line());
  }
  return sighting;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  policy::CtestSighting sighting = read_sighting(tests::text_of(data, size));
  const policy::RunModeFinding finding = policy::find_run_mode(sighting);
  require(finding.mode != RunMode::direct, "where a ctest was found, no test was started directly");
  require(!finding.because.empty(), "a finding says why");
  require(finding.mode != RunMode::serial || finding.jobs == 1U, "one test at a time is one job");
  require(finding.mode != RunMode::parallel || finding.jobs != 1U, "several at a time are not one job");

  sighting.arguments.insert(sighting.arguments.begin(), "-V");
  require(policy::find_run_mode(sighting).mode == finding.mode, "an option that means nothing changes nothing");
  return 0;
}
