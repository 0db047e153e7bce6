// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/needs.hpp>

#include "core/policy/make_request.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputest::policy {
namespace {

using namespace literals;
using namespace words;
using capabilities::mig;
using capabilities::peer_access;
using capabilities::sm;

template <class... Words>
Needs test(const Words&... said) {
  return gputest::detail::needs_of<false>(said...);
}

template <class... Words>
Needs suite(const Words&... said) {
  return gputest::detail::needs_of<true>(said...);
}

TEST(Needs, of_the_test_take_precedence_over_the_suite_the_fixture_and_the_entry) {
  struct Case {
    std::string claim;
    Needs test;
    Needs suite;
    std::optional<MemoryClass> fixture;
    Request entry;
    Request expected;
  };
  const Request small_entry = MemoryClass::small;
  const Request two_gpus = make_request(MemoryClass::small, {}, 2);
  const std::vector<Case> cases{
      {"the entry alone", {}, {}, {}, 3_GiB, 3_GiB},
      {"a small fixture needs no bytes of the entry", {}, {}, small, 3_GiB, small},
      {"a medium fixture takes the entry's bytes", {}, {}, medium, 3_GiB, make_request(medium, 3_GiB)},
      {"a large fixture takes the entry's bytes", {}, {}, large, 3_GiB, make_request(large, 3_GiB)},
      {"a fixture over the entry's class", {}, {}, small, Request{large}, small},
      {"a large fixture in a small entry", {}, {}, large, small_entry, large},
      {"the test alone", test(3_GiB), {}, {}, Request{large}, 3_GiB},
      {"a test's class over the fixture", test(medium), {}, large, small_entry, medium},
      {"a test's class takes no bytes of the entry", test(medium), {}, {}, 3_GiB, medium},
      {"a test's bytes keep the fixture's class", test(3_GiB), {}, large, small_entry, make_request(large, 3_GiB)},
      {"a test's bytes in a small fixture", test(1_GiB), {}, small, small_entry, make_request(small, 1_GiB)},
      {"a test's class and bytes", test(large, 3_GiB), {}, small, small_entry, make_request(large, 3_GiB)},
      {"the suite over the fixture", {}, suite(large), small, 3_GiB, large},
      {"the suite's bytes keep the fixture's class", {}, suite(3_GiB), large, small_entry, make_request(large, 3_GiB)},
      {"the test over the suite", test(small), suite(3_GiB), large, small_entry, small},
      {"a test's bytes keep the suite's class", test(1_GiB), suite(large, 3_GiB), small, 2_GiB,
       make_request(large, 1_GiB)},
      {"the entry's devices", test(3_GiB), {}, {}, two_gpus, make_request(medium, 3_GiB, 2)},
      {"the test's devices", test(gpus(4), large), {}, {}, two_gpus, make_request(large, {}, 4)},
      {"fewer than the entry's", test(gpus(1)), {}, {}, two_gpus, small},
      {"the suite's devices", test(3_GiB), suite(gpus(3)), {}, two_gpus, make_request(medium, 3_GiB, 3)},
      {"the test's devices over the suite's", test(gpus(4)), suite(gpus(3)), {}, two_gpus, make_request(small, {}, 4)},
      {"a fixture keeps the entry's devices", {}, {}, large, two_gpus, make_request(large, {}, 2)},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(resolve(c.test, c.suite, c.fixture, c.entry)), to_string(c.expected)) << c.claim;
    EXPECT_EQ(resolve(c.test, c.suite, c.fixture, c.entry), c.expected) << c.claim;
  }
}

TEST(Needs, add_up_what_devices_must_have) {
  Request entry = MemoryClass::small;
  entry.capabilities = {sm(80)};
  EXPECT_EQ(resolve({}, {}, MemoryClass::medium, entry).capabilities, entry.capabilities);
  EXPECT_EQ(resolve(test(mig), suite(peer_access, sm(90)), {}, entry).capabilities,
            (Capabilities{sm(90), mig, peer_access}));
}

TEST(Needs, take_what_may_be_kept_and_the_heap_of_the_test_or_else_of_the_suite_or_else_of_the_entry) {
  Request entry;
  entry.keeps = 64_MiB;
  entry.heap = 8_MiB;
  const auto expect = [&](const Needs& of_test, const Needs& of_suite, Bytes kept, Bytes heap_size) {
    const auto request = resolve(of_test, of_suite, MemoryClass::small, entry);
    EXPECT_EQ(request.keeps, kept);
    EXPECT_EQ(request.heap, heap_size);
  };
  expect({}, {}, 64_MiB, 8_MiB);
  expect(test(3_GiB), suite(keeps(128_MiB), heap(16_MiB)), 128_MiB, 16_MiB);
  expect(test(keeps(0_B), heap(32_MiB)), suite(keeps(128_MiB), heap(16_MiB)), 0_B, 32_MiB); // nothing is an answer
  EXPECT_TRUE(test(keeps(1_MiB)).says_gpu());
}

TEST(Needs, say_alone_for_all_below_whoever_says_it) {
  Request entry = 3_GiB;
  EXPECT_FALSE(resolve(test(1_GiB), suite(small), {}, entry).alone);
  EXPECT_TRUE(resolve(test(alone), suite(small), {}, entry).alone);
  EXPECT_TRUE(resolve(test(1_GiB), suite(alone), {}, entry).alone);
  EXPECT_EQ(resolve(test(alone), {}, {}, entry).bytes, 3_GiB);
  entry.alone = true;
  EXPECT_TRUE(resolve(test(1_GiB), suite(small), {}, entry).alone);
}

TEST(Needs, of_a_gpu_are_those_of_the_most_specific_source) {
  struct Row {
    Needs test;
    Needs suite;
    bool host_fixture;
    bool uses_gpu;
  };
  const std::vector<Row> rows{
      {{}, {}, false, true},
      {{}, {}, true, false},
      {test(no_gpu), {}, false, false},
      {test(no_gpu), suite(3_GiB), false, false},
      {test(small), suite(no_gpu), false, true},
      {test(heap(1_MiB)), suite(no_gpu), false, true},
      {test(alone), suite(no_gpu), false, true},
      {{}, suite(no_gpu), false, false},
      {{}, suite(gpus(2)), true, true},
      {{}, suite(mig), true, true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(uses_gpu(row.test, row.suite, row.host_fixture), row.uses_gpu) << &row - rows.data();
  }
}

/// As nobody can write it in an annotation.
Needs without_gpu(Needs needs) {
  needs.no_gpu = true;
  return needs;
}

TEST(Needs, that_contradict_themselves_are_named_with_what_is_allowed) {
  const std::vector<std::pair<Needs, std::string>> cases{
      {test(3_GiB, large, gpus(16), heap(1_MiB)), ""},
      {test(small, 256_MiB), ""},
      {suite(suite_lease), ""},
      {test(0_B), "a size of 0 bytes"},
      {test(small, 257_MiB), "small and 257 MiB; small is up to 256 MiB: leave small out, or say medium or large"},
      {test(gpus(0)), "gpus(0); a test has 1 to 16 GPUs"},
      {test(gpus(17)), "gpus(17); a test has 1 to 16 GPUs"},
      {test(peer_access, gpus(1)), "gpus(1) and peer_access, which is between devices; say gpus(2) or more"},
      {test(heap(0_B)), "a heap of 0 bytes"},
      {test(sm(8)), "sm(8); the compute capability is written without its point, as sm(80) for 8.0"},
      {test(sm(9)), "sm(9)"},
      {test(sm(10)), ""},
      {test(sm(999)), ""},
      {test(sm(1000)), "sm(1000)"},
      {test(no_gpu), ""},
      {without_gpu(test(3_GiB)), "no_gpu and what it needs of a GPU; a test that uses no GPU says no_gpu alone"},
      {without_gpu(test(gpus(2))), "no_gpu and what"},
      {without_gpu(test(sm(80))), "no_gpu and what"},
      {without_gpu(suite(suite_lease)), "no_gpu and what"},
  };
  for (const auto& [needs, message] : cases) {
    const auto text = contradiction_in(needs);
    EXPECT_EQ(text.substr(0, message.size()), message);
    EXPECT_EQ(text.empty(), message.empty()) << text;
  }
}

TEST(Needs, know_where_the_memory_was_said) {
  const Needs says = test(3_GiB, keeps(1_MiB));
  const auto by = [](const Needs& of_test, const Needs& of_suite, std::optional<MemoryClass> fixture,
                     const Request& entry = {}) {
    const auto request = resolve(of_test, of_suite, fixture, entry);
    return std::pair{request.memory_by, request.keeps_by};
  };
  EXPECT_EQ(by(says, {}, small), (std::pair{SaidBy::test, SaidBy::test}));
  EXPECT_EQ(by({}, says, small), (std::pair{SaidBy::suite, SaidBy::suite}));
  EXPECT_EQ(by({}, {}, small).first, SaidBy::fixture);
  EXPECT_EQ(by({}, {}, large).first, SaidBy::fixture);
  EXPECT_EQ(by({}, {}, large, 3_GiB).first, SaidBy::entry) << "its MEMORY holds for it";
  EXPECT_EQ(by({}, {}, std::nullopt), (std::pair{SaidBy::entry, SaidBy::entry}));
}

TEST(Needs, are_estimated_only_if_nobody_says_them) {
  Request learned = 3_GiB;
  learned.memory_by = SaidBy::estimate;
  const Needs says = test(1_GiB);
  const auto of = [&](const Needs& of_test, std::optional<MemoryClass> fixture) {
    const auto request = resolve(of_test, {}, fixture, learned);
    return std::pair{request.is_estimated(), request.bytes};
  };
  EXPECT_EQ(of({}, std::nullopt), (std::pair{true, std::optional{3_GiB}}));
  EXPECT_EQ(of({}, medium), (std::pair{false, std::optional<Bytes>{}})) << "what was learned changes no verdict";
  EXPECT_EQ(of({}, small), (std::pair{false, std::optional<Bytes>{}}));
  EXPECT_EQ(of({}, large), (std::pair{false, std::optional<Bytes>{}})) << "the whole device";
  EXPECT_EQ(of(says, std::nullopt), (std::pair{false, std::optional{1_GiB}}));
}

} // namespace
} // namespace gputest::policy
