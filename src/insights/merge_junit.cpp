// SPDX-License-Identifier: BSD-3-Clause
#include "core/policy/text.hpp"
#include "insights/merge.hpp"
#include "insights/text_file.hpp"

#include <gputest/error.hpp>

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace gputest::insights {

namespace {

std::string text_of(const pugi::xml_node& node) {
  std::ostringstream text;
  node.print(text, "", pugi::format_raw, pugi::encoding_utf8);
  return text.str();
}

/// Only ctest writes a status. It is `notrun` for tests that were skipped, and for those that could not be started,
/// which fail.
TestVerdict verdict_of(const pugi::xml_node& test, TestTool tool) {
  const std::string_view status = test.attribute("status").value();
  const auto skipped = test.child("skipped");
  if (test.child("failure") || test.child("error") || status == "fail") {
    return TestVerdict::failed;
  }
  if (tool == TestTool::pytest) {
    return skipped ? TestVerdict::skipped : TestVerdict::passed;
  }
  return status == "run" && !skipped                                          ? TestVerdict::passed
         : status == "disabled"                                               ? TestVerdict::disabled
         : policy::starts_with(skipped.attribute("message").value(), "SKIP_") ? TestVerdict::skipped
                                                                              : TestVerdict::not_run;
}

/// Whether pytest skipped a module or a class instead of listing its tests.
bool is_skipped_collection(const pugi::xml_node& test) {
  const auto skipped = test.child("skipped"); // of a test it has a type
  return skipped && !skipped.attribute("type") &&
         skipped.attribute("message").value() == std::string_view{"collection skipped"};
}

RunResult result_of(pugi::xml_node test, const std::string& file, TestTool tool) {
  const std::string suite = test.attribute("classname").value();
  RunResult result;
  result.name = name_in_junit(test.attribute("name").value());
  if (tool == TestTool::pytest && !suite.empty()) {
    result.name = suite + "." + result.name;
  }
  constexpr std::string_view not_utf_8 = "[NON-UTF-8-BYTE-0x"; // and `FF]`, for which ctest's list has a character
  for (auto at = result.name.find(not_utf_8); at != std::string::npos; at = result.name.find(not_utf_8)) {
    result.name.replace(at, not_utf_8.size() + 3, "\xEF\xBF\xBD");
  }
  result.verdict = verdict_of(test, tool);
  if (result.verdict <= TestVerdict::not_run) {
    const auto failure = test.child("failure");
    const auto reason = failure ? failure : test.child("error") ? test.child("error") : test.child("skipped");
    result.why = reason.attribute("message").value();
    if (!reason && result.verdict == TestVerdict::not_run) {
      result.why = fmt::format("its status is '{}'", test.attribute("status").value());
    }
    result.output = std::string{reason.child_value()} + test.child_value("system-out");
  }
  auto properties = test.child("properties");
  auto property = (properties ? properties : test.prepend_child("properties")).append_child("property");
  property.append_attribute("name") = "shard";
  property.append_attribute("value") = file.c_str();
  result.xml = text_of(test);
  return result;
}

/// The element as it was written, with what the merge adds.
std::string merged_element(const MergedTest& test, const EntryFacts& facts) {
  const auto failure = !test.problem.empty()                  ? test.label + ": " + test.problem
                       : test.verdict == TestVerdict::not_run ? test.label + ": " + test.result->why
                                                              : "";
  const auto known = facts.find(test.name);
  if (failure.empty() && test.attempts.size() == 1 && known == facts.end()) {
    return test.result->xml + "\n";
  }
  pugi::xml_document document;
  document.load_string(test.result != nullptr ? test.result->xml.c_str()
                                              : "<testcase classname='' time='0' status=''/>");
  auto element = document.document_element();
  for (const auto* const attempt : test.attempts) {
    if (attempt != test.result && attempt->verdict <= TestVerdict::not_run) {
      auto earlier = element.append_child(test.has_failed() ? "rerunFailure" : "flakyFailure");
      earlier.append_attribute("message") = attempt->why.c_str();
      earlier.append_child("system-out").text() = attempt->output.c_str();
    }
  }
  if (test.result == nullptr) {
    element.prepend_attribute("name") = test.name.c_str();
    element.attribute("classname") = test.name.c_str();
  }
  if (!failure.empty()) {
    element.remove_child("skipped");
    element.attribute("status") = "fail";
    element.prepend_child("failure").append_attribute("message") = failure.c_str();
  }
  for (const auto& [name, value] : known == facts.end() ? EntryFacts::mapped_type{} : known->second) {
    auto property = element.child("properties").append_child("property"); // result_of() has written some
    property.append_attribute("name") = name.c_str();
    property.append_attribute("value") = value.c_str();
  }
  return text_of(element) + "\n";
}

} // namespace

std::string name_in_junit(const std::string& test) {
  std::string name;
  for (const char character : test) {
    if (character == '\t' || character == '\n') {
      name += ' ';
    } else if (character > 0 && character < ' ' && character != '\r') {
      name += fmt::format("[NON-XML-CHAR-0x{:X}]", int{character});
    } else if (character != '\r') {
      name += character;
    }
  }
  return name;
}

JunitRun read_junit(const std::string& path, TestTool tool) {
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none)) { // a FIFO may block
    throw Error{path + " is no regular file"};
  }
  auto text = read_text(path);
  const bool has_zero = text.find('\0') != std::string::npos; // the parser ends there, and writes some
  pugi::xml_document document;
  const auto parsed = document.load_buffer_inplace(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    throw Error{
        fmt::format("{} is no JUnit file, or a part of one: {} at byte {}", path, parsed.description(), parsed.offset)};
  }
  const auto root = document.document_element();
  const bool has_several = root.name() == std::string_view{"testsuites"};
  if (!has_several && root.name() != std::string_view{"testsuite"}) {
    throw Error{fmt::format("{} is no JUnit file: it has <{}> instead of <testsuite>", path, root.name())};
  }
  if (has_zero || root.next_sibling()) {
    throw Error{fmt::format("{} is no JUnit file, or several: there is more behind its first element", path)};
  }
  JunitRun run;
  run.file = path;
  std::string begun;
  std::unordered_map<std::string, std::size_t> positions; // of results of pytest
  for (auto suite = has_several ? root.child("testsuite") : root; suite; suite = suite.next_sibling("testsuite")) {
    begun = begun.empty() ? suite.attribute("timestamp").value() : begun;
    run.seconds += suite.attribute("time").as_double();
    bool has_failure = false;
    for (const auto test : suite.children("testcase")) {
      auto result = result_of(test, path, tool);
      has_failure = has_failure || result.verdict <= TestVerdict::not_run;
      if (tool == TestTool::ctest) {
        run.results.push_back(std::move(result));
        continue;
      }
      if (is_skipped_collection(test)) {
        continue;
      }
      // pytest writes a test again if its teardown fails, with pytest-xdist after others.
      const auto [known, is_new] = positions.try_emplace(result.name, run.results.size());
      if (is_new) {
        run.results.push_back(std::move(result));
      } else if (auto& first = run.results[known->second]; result.verdict < first.verdict) {
        first = std::move(result);
      }
    }
    const bool counts_failures = suite.attribute("failures").as_uint() + suite.attribute("errors").as_uint() > 0;
    if (suite.child("testsuite") || (counts_failures && !has_failure)) {
      throw Error{fmt::format("{} has {}, which neither ctest nor pytest writes", path,
                              counts_failures && !has_failure ? "failures, but no test that failed"
                                                              : "a <testsuite> in a <testsuite>")};
    }
  }
  run.begun = parse_run_time(begun);
  return run;
}

std::string junit_of(const std::vector<RunResult>& results) {
  pugi::xml_document document;
  auto suite = document.append_child("testsuite");
  suite.append_attribute("tests") = static_cast<unsigned>(results.size());
  for (const auto& result : results) {
    auto test = suite.append_child("testcase");
    test.append_attribute("name") = result.name.c_str();
    test.append_attribute("classname") = result.name.c_str();
    test.append_attribute("status") = result.verdict == TestVerdict::failed     ? "fail"
                                      : result.verdict == TestVerdict::passed   ? "run"
                                      : result.verdict == TestVerdict::disabled ? "disabled"
                                                                                : "notrun";
    if (result.verdict == TestVerdict::failed) {
      test.append_child("failure").append_attribute("message") = result.why.c_str();
    } else if (result.verdict == TestVerdict::skipped || result.verdict == TestVerdict::not_run) {
      test.append_child("skipped").append_attribute("message") =
          ((result.verdict == TestVerdict::skipped ? "SKIP_" : "") + result.why).c_str();
    }
    if (!result.output.empty()) {
      test.append_child("system-out").text() = result.output.c_str();
    }
  }
  return text_of(suite) + "\n";
}

EntryFacts facts_of(const RunLog& log) {
  EntryFacts facts;
  for (const auto& lease : log.leases) {
    auto& of_entry = facts[lease.entry];
    const auto raise = [&](const char* name, std::uint64_t bytes) {
      auto& most = of_entry[name];
      most = std::to_string(std::max<std::uint64_t>(bytes, most.empty() ? 0 : std::stoull(most)));
    };
    raise("gputest_lease_bytes", lease.bytes);
    of_entry["gputest_device"] = fmt::format("{}", fmt::join(lease.devices, " "));
    of_entry["gputest_attempts"] = "1";
    for (const auto& [device, peak] : lease.peaks) {
      raise("gputest_peak_bytes", peak);
      auto& evidence = of_entry["gputest_peak_evidence"];
      evidence = lease.evidence == "exact" && evidence != "sampled" ? "exact" : "sampled";
    }
  }
  for (const auto& problem : log.problems) {
    if (const auto found = facts.find(problem.entry); problem.kind == "ran again" && found != facts.end()) {
      auto& attempts = found->second["gputest_attempts"];
      attempts = std::to_string(std::stoul(attempts) + 1);
    }
  }
  return facts;
}

std::string merged_junit(const Merged& merged, const std::vector<std::string>& unread, double seconds,
                         const EntryFacts& facts) {
  std::array<std::size_t, 5> counts{};
  std::string cases;
  const auto add = [&](const MergedTest& test) {
    ++counts[static_cast<std::size_t>(test.verdict)];
    cases += merged_element(test, facts);
  };
  for (const auto* const tests : {&merged.tests, &merged.unknown}) {
    for (const auto& test : *tests) {
      add(test);
    }
  }
  for (const auto& problem : unread) {
    add({"gputest merge", TestVerdict::failed, "Unread", problem, {}});
  }
  const auto [failed, not_run, passed, skipped, disabled] = counts;
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"gputest merge\" tests=\"{}\" "
                     "failures=\"{}\" disabled=\"{}\" skipped=\"{}\" hostname=\"\" time=\"{}\">\n{}</testsuite>\n",
                     failed + not_run + passed + skipped + disabled, failed + not_run, disabled, skipped, seconds,
                     cases);
}

} // namespace gputest::insights
