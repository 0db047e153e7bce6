// SPDX-License-Identifier: BSD-3-Clause
#include "report/test_log.hpp"

#include <gtest/gtest.h>

namespace gputest::report {
namespace {

using namespace literals;

std::string entry(const std::string& name, const std::string& output, const std::string& time,
                  const std::string& result = "Test Passed.") {
  return "1/2 Testing: " + name + "\n1/2 Test: " + name + "\nCommand: \"t\"\nOutput:\n----------\n" + output +
         "<end of output>\nTest time =   " + time + " sec\n----------\n" + result + "\n\"" + name +
         "\" end time: now\n\n";
}

TEST(TestLog, has_the_time_of_each_test_that_ran) {
  const auto log =
      parse_test_log("Start testing: now\n" + entry("a b", "", "0.25") + entry("fails", "", "12.50", "Test Failed.") +
                     entry("skipped", "", "0.02", "Test Pass Reason:\nskip code") + "End testing: now\n");
  ASSERT_EQ(log.size(), 3U);
  EXPECT_DOUBLE_EQ(log.at("a b").time->count(), 0.25);
  EXPECT_DOUBLE_EQ(log.at("fails").time->count(), 12.5);
  EXPECT_FALSE(log.at("skipped").time);
}

TEST(TestLog, has_of_an_entry_that_ran_again_what_its_last_attempt_says) {
  const auto log = parse_test_log(entry("t",
                                        "gputest: admitted A.a: 3 GiB on GPU 1, after waiting 5 s\n"
                                        "[==========] Running 1 test from 1 test suite.\n",
                                        "9.00") +
                                  entry("t", "", "8.00") + entry("u", "", "1.00") + "2/2 Testing: u\nTest Passed.\n");
  EXPECT_FALSE(log.at("t").admitted);
  EXPECT_FALSE(log.at("t").is_one_test);
  EXPECT_DOUBLE_EQ(log.at("t").time->count(), 8);
  EXPECT_FALSE(log.at("u").time);
}

TEST(TestLog, knows_a_heading_and_a_time_by_their_whole_form) {
  EXPECT_TRUE(parse_test_log(" Testing: a\nx Testing: b\n1/2 Test: c\n1/2: Testing: d\n").empty());
  EXPECT_FALSE(parse_test_log(entry("t", "Test time =   1.00 min\nTest Passed.\n", "-1")).at("t").time);
  EXPECT_DOUBLE_EQ(parse_test_log(entry("t", "", "31536000")).at("t").time->count(), 31536000);
}

TEST(TestLog, a_request_asks_for_less_by_its_gpus_its_class_its_bytes_and_its_heap) {
  const auto with = [](Request request, int gpus, Bytes heap = {}) {
    request.gpus = gpus;
    request.heap = heap;
    return request;
  };
  const std::vector<Request> rising{with(Request{1_GiB}, 1),
                                    with(Request{1_GiB}, 1, 1_MiB),
                                    with(Request{2_GiB}, 1),
                                    with(Request{MemoryClass::medium}, 1),
                                    with(Request{MemoryClass::large}, 1),
                                    with(Request{1_GiB}, 2)};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    for (std::size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(asks_for_less(rising[i], rising[j]), i < j) << i << " " << j;
    }
  }
}

TEST(TestLog, has_no_time_that_no_test_takes) {
  for (const auto* const time : {"1e300", "31536001", "-1"}) {
    EXPECT_FALSE(parse_test_log(entry("t", "", time)).at("t").time) << time;
  }
}

TEST(TestLog, has_the_largest_request_of_an_entry) {
  const auto log = parse_test_log(entry("several",
                                        "gputest: admitted A.a: 3 GiB on GPU 1\n[ OK ]\n"
                                        "gputest: admitted A.b: 7.25 GiB on GPU 1\n"
                                        "gputest: admitted A.c: small on GPU 1\n",
                                        "1.00") +
                                  entry("none", "admitted\n", "1.00"));
  EXPECT_EQ(log.at("several").admitted, Request{Bytes{29ULL << 28U}});
  EXPECT_FALSE(log.at("none").admitted);
}

TEST(TestLog, reads_every_form_of_a_request) {
  const auto request_of = [](const std::string& text) {
    return parse_test_log(entry("t", "gputest: admitted x: " + text + " on GPU-1 (a : b)\n", "1.00")).at("t").admitted;
  };
  Request two{3_GiB};
  two.gpus = 2;
  Request heap{MemoryClass::medium};
  heap.heap = 64_MiB;
  Request large{MemoryClass::large};
  large.bytes = 40_GiB;
  for (const auto& request : {two, heap, large, Request{MemoryClass::large}, Request{100_MiB}}) {
    EXPECT_EQ(request_of(to_string(request)), request) << to_string(request);
  }
  EXPECT_EQ(request_of("2 x 3 GiB and a heap of 64 MiB, requiring sm_80")->heap, 64_MiB);
  EXPECT_EQ(request_of("2 x medium with 3 GiB and a heap of 64 MiB, requiring concurrent_managed_access")->gpus, 2);
  EXPECT_FALSE(request_of("3 apples"));
  EXPECT_FALSE(request_of("3 PiB"));
  EXPECT_FALSE(parse_test_log(entry("t", "gputest: admitted x: 3 GiB\n", "1.00")).at("t").admitted) << "cut off";
}

TEST(TestLog, a_name_may_look_like_a_request) {
  const auto log = parse_test_log(entry("t", "gputest: admitted a: b on c: 2 GiB on d: 3 GiB on GPU 1\n", "1.00"));
  EXPECT_EQ(log.at("t").admitted, Request{2_GiB}) << "the first that reads as one";
}

TEST(TestLog, waits_are_no_time_of_a_test) {
  const auto log = parse_test_log(entry("t",
                                        "gputest: admitted A.a: 3 GiB on GPU 1, after waiting 5 s\n"
                                        "gputest: admitted A.b: 3 GiB on GPU 1, after waiting 2 min\n",
                                        "130.50") +
                                  entry("short", "gputest: admitted A.a: 3 GiB on GPU 1, after waiting 5 s\n", "4.00") +
                                  entry("entered", "gputest: a b goes on, on GPU 1, after waiting 3 s\n", "4.50") +
                                  entry("other",
                                        "a b goes on, on GPU 1, after waiting 3 s\n"
                                        "gputest: a b waits, after waiting 3 s\n",
                                        "4.50"));
  EXPECT_DOUBLE_EQ(log.at("other").time->count(), 4.5) << "no line of gputest's that says so";
  const auto hours =
      parse_test_log(entry("t", "gputest: admitted A.a: 3 GiB on GPU 1, after waiting 2 h\n", "7201.00"));
  EXPECT_DOUBLE_EQ(hours.at("t").time->count(), 1);
  EXPECT_DOUBLE_EQ(log.at("entered").time->count(), 1.5);
  EXPECT_DOUBLE_EQ(log.at("t").time->count(), 5.5);
  EXPECT_DOUBLE_EQ(log.at("short").time->count(), 0);
}

TEST(TestLog, knows_an_entry_of_one_test) {
  const auto log = parse_test_log(entry("one", "[==========] Running 1 test from 1 test suite.\n", "1.00") +
                                  entry("two", "[==========] Running 2 tests from 1 test suite.\n", "1.00"));
  EXPECT_TRUE(log.at("one").is_one_test);
  EXPECT_FALSE(log.at("two").is_one_test);
}

TEST(TestLog, garbage_is_left_out) {
  const std::string digits(1000000, '1');
  EXPECT_TRUE(parse_test_log(digits + "\n" + digits + "/\n").empty());
  const auto log = parse_test_log(entry("t", "gputest: admitted x: " + digits + " on y\n", " . ") +
                                  entry("u", "Test time = . sec\nTest time =\n", "1e999"));
  EXPECT_FALSE(log.at("t").admitted);
  EXPECT_FALSE(log.at("t").time);
  EXPECT_FALSE(log.at("u").time);

  EXPECT_TRUE(parse_test_log("").empty());
  EXPECT_TRUE(parse_test_log("gputest: admitted x: 3 GiB on y\nTest time = 3 sec\nTest Passed.\n\x01\n").empty());
}

} // namespace
} // namespace gputest::report
