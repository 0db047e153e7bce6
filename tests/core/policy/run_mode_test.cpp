// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/run_mode.hpp"

#include "core/policy/ctest_arguments.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace gputest::policy {

static std::ostream& operator<<(std::ostream& out, RunMode mode) {
  switch (mode) {
  case RunMode::direct:
    return out << "direct";
  case RunMode::serial:
    return out << "serial";
  case RunMode::parallel:
    return out << "parallel";
  case RunMode::unknown:
    break;
  }
  return out << "unknown";
}

namespace {

constexpr RunMode serial = RunMode::serial;
constexpr RunMode parallel = RunMode::parallel;
constexpr RunMode unknown = RunMode::unknown;

using Arguments = std::vector<std::string>;

CtestSighting ctest(Arguments arguments, std::string version = "3.25.1") {
  CtestSighting sighting;
  sighting.found = true;
  sighting.version = std::move(version);
  sighting.arguments = std::move(arguments);
  return sighting;
}

CtestSighting with_level(CtestSighting sighting, const std::string& level) {
  sighting.parallel_level = level;
  return sighting;
}

CtestSighting with_jobs(CtestSighting sighting, const std::string& jobs) {
  sighting.preset_jobs = jobs;
  return sighting;
}

// What each line of FACTS on starting ctest comes to, for the versions between which something changed.
struct Row {
  Arguments arguments;
  RunMode v3_25, v3_28, v3_29, v3_31, v4_0, v4_4;
};

void expect_rows(const std::vector<Row>& rows, const std::optional<std::string>& level = {},
                 const std::optional<std::string>& jobs = {}) {
  for (const Row& row : rows) {
    const std::vector<std::pair<const char*, RunMode>> versions{{"3.25.1", row.v3_25}, {"3.28.4", row.v3_28},
                                                                {"3.29.6", row.v3_29}, {"3.31.6", row.v3_31},
                                                                {"4.0.3", row.v4_0},   {"4.4.4", row.v4_4}};
    for (const auto& [version, expected] : versions) {
      CtestSighting sighting = ctest(row.arguments, version);
      sighting.parallel_level = level;
      sighting.preset_jobs = jobs;
      const RunModeFinding finding = find_run_mode(sighting);
      EXPECT_EQ(finding.mode, expected) << version << ": " << finding.because;
    }
  }
}

TEST(RunMode, is_direct_without_a_ctest) {
  EXPECT_EQ(find_run_mode({}).mode, RunMode::direct);
  EXPECT_FALSE(depends_on_version({}));
}

TEST(RunMode, is_serial_where_nothing_asks_for_more) {
  expect_rows({{{}, serial, serial, serial, serial, serial, serial},
               {{"-V", "--output-on-failure"}, serial, serial, serial, serial, serial, serial}});
  EXPECT_EQ(find_run_mode(ctest({})).because, "ctest without -j");
}

TEST(RunMode, reads_a_number_of_jobs) {
  expect_rows({{{"-j", "8"}, parallel, parallel, parallel, parallel, parallel, parallel},
               {{"-j8"}, parallel, parallel, parallel, parallel, parallel, parallel},
               {{"-j 8"}, parallel, parallel, parallel, parallel, parallel, parallel},
               {{"--parallel", "8"}, parallel, parallel, parallel, parallel, parallel, parallel},
               {{"-j", "+8"}, parallel, parallel, parallel, parallel, parallel, parallel},
               {{"-j", "1"}, serial, serial, serial, serial, serial, serial},
               {{"-j1"}, serial, serial, serial, serial, serial, serial},
               {{"--parallel", "1"}, serial, serial, serial, serial, serial, serial}});
  EXPECT_EQ(find_run_mode(ctest({"-j", "8"})).because, "ctest -j 8");
  EXPECT_EQ(find_run_mode(ctest({"-V", "-j8"})).because, "ctest -j8");
}

TEST(RunMode, reads_an_equals_sign_as_its_version_does) {
  expect_rows({{{"-j=8"}, serial, serial, unknown, unknown, parallel, parallel},
               {{"-j=1"}, serial, serial, unknown, unknown, serial, serial},
               {{"-j="}, serial, serial, unknown, unknown, unknown, unknown},
               {{"--parallel=8"}, serial, serial, serial, unknown, parallel, parallel},
               {{"--parallel=1"}, serial, serial, serial, unknown, serial, serial},
               {{"--parallel 8"}, serial, serial, serial, unknown, parallel, parallel}});
}

TEST(RunMode, reads_an_option_without_a_number_as_its_version_does) {
  expect_rows({{{"-j"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"--parallel"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"-j", ""}, serial, serial, parallel, parallel, parallel, parallel},
               {{"-j", "-V"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"--parallel", "-V"}, serial, serial, parallel, parallel, parallel, parallel},
               // Up to 3.28 the first option takes the second one for its number.
               {{"-j", "-j8"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"-j", "--parallel", "8"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"-j", "-j1"}, serial, serial, serial, serial, serial, serial}});
}

TEST(RunMode, reads_zero_and_what_is_no_number_as_its_version_does) {
  expect_rows({{{"-j", "0"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"-j0"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"-j", "x"}, serial, serial, unknown, unknown, unknown, unknown},
               {{"-jx"}, serial, serial, unknown, unknown, unknown, unknown},
               {{"-j8x"}, parallel, parallel, unknown, unknown, unknown, unknown},
               {{"-j-8"}, serial, serial, unknown, unknown, unknown, unknown}});
}

TEST(RunMode, takes_the_last_of_several_options) {
  expect_rows({{{"-j8", "-j1"}, serial, serial, serial, serial, serial, serial},
               {{"-j1", "--parallel", "8"}, parallel, parallel, parallel, parallel, parallel, parallel},
               {{"-j8", "-j"}, serial, serial, parallel, parallel, parallel, parallel}});
}

TEST(RunMode, does_not_take_another_options_value_for_a_level) {
  for (const char* option : {"-R", "-E", "-L", "-LE", "-C", "-I", "--timeout", "--test-dir", "--test-load", "-FA"})
    EXPECT_EQ(find_run_mode(ctest({option, "-j8"})).mode, serial) << option;
  for (const char* option : {"-V", "-VV", "-U", "-Q", "-F", "--stop-on-failure"})
    EXPECT_EQ(find_run_mode(ctest({option, "-j8"})).mode, parallel) << option;
}

TEST(RunMode, leaves_what_is_for_the_tests_to_them) {
  expect_rows({{{"--", "-j8"}, parallel, parallel, parallel, parallel, parallel, serial},
               {{"-j8", "--", "-j1"}, serial, serial, serial, serial, serial, parallel}});
}

TEST(RunMode, reads_the_environment) {
  const std::vector<std::pair<const char*, Row>> rows{
      {"8", {{}, parallel, parallel, parallel, parallel, parallel, parallel}},
      {" 8", {{}, parallel, parallel, parallel, parallel, parallel, parallel}},
      {"1", {{}, serial, serial, serial, serial, serial, serial}},
      {"", {{}, serial, serial, parallel, parallel, parallel, parallel}},
      {" \t", {{}, serial, serial, parallel, parallel, parallel, parallel}},
      {"0", {{}, serial, serial, parallel, parallel, parallel, parallel}},
      {"x", {{}, serial, serial, serial, serial, serial, serial}},
      {"8x", {{}, parallel, parallel, serial, serial, serial, serial}},
      {"8 ", {{}, parallel, parallel, serial, serial, serial, serial}},
      {"-8", {{}, serial, serial, serial, serial, serial, serial}},
      {"99999999999999999999", {{}, serial, serial, serial, serial, serial, serial}},
  };
  for (const auto& [level, row] : rows) {
    SCOPED_TRACE(level);
    expect_rows({row}, level);
  }
  EXPECT_EQ(find_run_mode(with_level(ctest({}), "4")).because, "CTEST_PARALLEL_LEVEL=4");
}

TEST(RunMode, knows_the_number_of_jobs_if_there_is_one) {
  const auto jobs = [](const CtestSighting& sighting) { return find_run_mode(sighting).jobs; };
  EXPECT_EQ(jobs(ctest({})), 1U);
  EXPECT_EQ(jobs(ctest({"-j", "8"})), 8U);
  EXPECT_EQ(jobs(ctest({"--parallel=16"}, "4.0.0")), 16U);
  EXPECT_EQ(jobs(ctest({"-j"}, "3.25.1")), 1U);
  EXPECT_EQ(jobs(ctest({"-j"}, "3.29.0")), std::nullopt);
  EXPECT_EQ(jobs(ctest({"-j0"}, "3.29.0")), std::nullopt);
  EXPECT_EQ(jobs(ctest({"-j99999999999"}, "3.29.0")), std::nullopt);
  EXPECT_EQ(jobs(ctest({"-jx"}, "3.29.0")), std::nullopt);
  EXPECT_EQ(jobs(with_level(ctest({}), "4")), 4U);
  EXPECT_EQ(jobs(with_level(ctest({}, "3.29.0"), "four")), 1U);
  EXPECT_EQ(jobs(with_jobs(ctest({"--preset", "gcc12"}), "3")), 3U);
  EXPECT_EQ(jobs(with_jobs(ctest({"--preset", "gcc12"}), "")), std::nullopt);
  EXPECT_EQ(jobs({}), std::nullopt);
}

TEST(RunMode, takes_the_command_line_over_the_environment) {
  expect_rows({{{"-j1"}, serial, serial, serial, serial, serial, serial},
               {{"-j=1"}, serial, serial, unknown, unknown, serial, serial},
               {{"-j"}, serial, serial, parallel, parallel, parallel, parallel},
               // Where an option is ignored, so it is here.
               {{"--parallel=1"}, parallel, parallel, parallel, unknown, serial, serial},
               {{"--parallel"}, parallel, parallel, parallel, parallel, parallel, parallel}},
              "8");
  expect_rows({{{"-j8"}, parallel, parallel, parallel, parallel, parallel, parallel}}, "1");
}

TEST(RunMode, takes_a_preset_over_the_environment) {
  const Arguments preset{"--preset", "ci"};
  expect_rows({{preset, serial, serial, serial, serial, serial, serial}}, "8", "1");
  expect_rows({{preset, parallel, parallel, parallel, parallel, parallel, parallel}}, "1", "8");
  expect_rows({{preset, parallel, parallel, parallel, parallel, parallel, parallel}}, "8");
  EXPECT_EQ(find_run_mode(with_jobs(ctest(preset), "8")).because, "test preset \"ci\" with 8 jobs");
  EXPECT_EQ(find_run_mode(ctest({"--preset=ci"})).because, "test preset \"ci\" without jobs");
}

TEST(RunMode, takes_the_command_line_over_a_preset) {
  expect_rows({{{"--preset", "ci", "-j1"}, serial, serial, serial, serial, serial, serial},
               {{"-j1", "--preset", "ci"}, serial, serial, serial, serial, serial, serial},
               {{"--preset=ci", "-j"}, serial, serial, parallel, parallel, parallel, parallel},
               {{"--preset", "ci", "--parallel=1"}, parallel, parallel, parallel, unknown, serial, serial}},
              {}, "8");
}

TEST(RunMode, reads_a_presets_jobs_as_its_version_does) {
  const Arguments preset{"--preset", "ci"};
  expect_rows({{preset, serial, serial, parallel, parallel, parallel, parallel}}, {}, "0");
  expect_rows({{preset, parallel, parallel, parallel, parallel, parallel, parallel}}, {}, "8.0");
  expect_rows({{preset, parallel, parallel, parallel, parallel, parallel, parallel}}, {}, "");
  expect_rows({{preset, serial, serial, unknown, unknown, unknown, unknown}}, {}, "-8");
}

TEST(RunMode, is_unknown_for_a_preset_that_cannot_be_read_unless_the_command_line_decides) {
  CtestSighting sighting = with_level(ctest({"--preset", "ci"}), "8");
  sighting.preset_readable = false;
  EXPECT_EQ(find_run_mode(sighting).mode, unknown);
  EXPECT_EQ(find_run_mode(sighting).because, "test preset \"ci\", which could not be read");
  sighting.arguments.emplace_back("-j1");
  EXPECT_EQ(find_run_mode(sighting).mode, serial);
}

TEST(RunMode, is_unknown_for_two_presets) {
  EXPECT_EQ(find_run_mode(with_jobs(ctest({"--preset", "ci", "--preset", "dev"}), "8")).mode, unknown);
  EXPECT_EQ(find_run_mode(with_jobs(ctest({"--preset", "ci", "--preset=ci"}), "8")).mode, parallel);
}

TEST(RunMode, is_unknown_under_a_script) {
  for (const char* option : {"-S", "-SP", "-SR", "--script", "--script-new-process", "--script-run"})
    EXPECT_EQ(find_run_mode(ctest({option, "run.cmake", "-j1"})).mode, unknown) << option;
  EXPECT_EQ(find_run_mode(ctest({"--script=run.cmake"}, "4.4.4")).mode, unknown);
  EXPECT_EQ(find_run_mode(ctest({"-S", "run.cmake"})).because, "a ctest -S script, which chooses the level itself");
}

TEST(RunMode, is_known_for_dashboard_steps) {
  expect_rows({{{"-T", "Test", "-j8"}, parallel, parallel, parallel, parallel, parallel, parallel},
               {{"-D", "ExperimentalTest"}, serial, serial, serial, serial, serial, serial},
               {{"-M", "Nightly", "-T", "Test"}, serial, serial, serial, serial, serial, serial}});
}

TEST(RunMode, asks_for_the_version_only_where_it_matters) {
  for (const auto& sighting :
       {ctest({}, ""), ctest({"-j", "8"}, ""), ctest({"-j8", "-V"}, ""), with_level(ctest({}, ""), "8"),
        with_jobs(ctest({"--preset", "ci"}, ""), "8"), ctest({"-S", "run.cmake"}, "")})
    EXPECT_FALSE(depends_on_version(sighting));
  for (const auto& sighting : {ctest({"-j=8"}, ""), ctest({"-j"}, ""), ctest({"--parallel=8"}, ""), ctest({"-j0"}, ""),
                               ctest({"--", "-j8"}, ""), with_level(ctest({}, ""), ""), with_level(ctest({}, ""), "0"),
                               with_jobs(ctest({"--preset", "ci"}, ""), "0")})
    EXPECT_TRUE(depends_on_version(sighting));
}

TEST(RunMode, is_unknown_for_an_unknown_version_only_where_it_matters) {
  EXPECT_EQ(find_run_mode(ctest({"-j", "8"}, "")).mode, parallel);
  EXPECT_EQ(find_run_mode(ctest({"-j=8"}, "")).mode, unknown);
  EXPECT_EQ(find_run_mode(ctest({"-j=8"}, "next")).mode, unknown);
  EXPECT_EQ(find_run_mode(ctest({"-j=8"}, "3.25.1-dirty")).mode, serial);
  EXPECT_EQ(find_run_mode(ctest({"-j=8"}, "10.0.0")).mode, parallel);
}

TEST(ResourceSpecOnCommandLine, is_found_in_every_form) {
  EXPECT_FALSE(names_resource_spec({"-j4", "-R", "resource"}));
  EXPECT_TRUE(names_resource_spec({"--resource-spec-file", "gpus.json"}));
  EXPECT_TRUE(names_resource_spec({"-j4", "--resource-spec-file=gpus.json"}));
}

TEST(NamedPreset, is_the_first_one_in_either_form) {
  EXPECT_EQ(named_preset({"-V", "--preset", "ci"}), "ci");
  EXPECT_EQ(named_preset({"--preset=ci", "--preset", "dev"}), "ci");
  EXPECT_EQ(named_preset({"--preset"}), std::nullopt);
  EXPECT_EQ(named_preset({"--presets-file", "a.json", "--list-presets"}), std::nullopt);
}

} // namespace
} // namespace gputest::policy
