// SPDX-License-Identifier: BSD-3-Clause
// ctest's command line. An input's first line is ctest's version, its second CTEST_PARALLEL_LEVEL and its third the
// preset's jobs (`-` for none), and each further one an argument.

#include "core/policy/ctest_arguments.hpp"
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
  sighting.found = true;
  sighting.version = lines.line();
  sighting.parallel_level = unless_dash(lines.line());
  sighting.preset_jobs = unless_dash(lines.line());
  while (!lines.rest().empty()) {
    sighting.arguments.emplace_back(lines.line());
  }
  return sighting;
}

RunMode mode_with(policy::CtestSighting sighting, const std::string& version) {
  sighting.version = version;
  return policy::find_run_mode(sighting).mode;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  policy::CtestSighting sighting = read_sighting(tests::text_of(data, size));
  const policy::RunModeFinding finding = policy::find_run_mode(sighting);
  require(finding.mode != RunMode::direct, "where a ctest was found, no test was started directly");
  require(!finding.because.empty(), "a finding says why");

  const bool depends = policy::depends_on_version(sighting);
  const RunMode newest = mode_with(sighting, "4.4.0");
  bool differs = false;
  for (const char* version : {"3.25.1", "3.29.0", "3.30.0", "4.0.0"}) {
    differs = differs || mode_with(sighting, version) != newest;
  }
  require(depends == differs, "the version is asked for exactly where it matters");
  require(mode_with(sighting, "") == (depends ? RunMode::unknown : newest), "an unknown version is no guess");

  policy::CtestSighting verbose = sighting;
  verbose.arguments.insert(verbose.arguments.begin(), "-V");
  require(policy::find_run_mode(verbose).mode == finding.mode, "an option that means nothing changes nothing");

  const auto preset = policy::named_preset(sighting.arguments);
  require(preset || !policy::names_several_presets(sighting.arguments), "several presets are one at least");
  static_cast<void>(policy::named_presets_file(sighting.arguments));
  static_cast<void>(policy::is_build_and_test(sighting.arguments));

  sighting.found = false;
  require(policy::find_run_mode(sighting).mode == RunMode::direct, "without a ctest the rest does not matter");
  return 0;
}
