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
  EXPECT_FALSE(request_of("3 apples"));
  EXPECT_FALSE(request_of("3 PiB"));
}

TEST(TestLog, a_name_may_look_like_a_request) {
  const auto log = parse_test_log(entry("t", "gputest: admitted a: b on c: 2 GiB on d: 3 GiB on GPU 1\n", "1.00"));
  EXPECT_EQ(log.at("t").admitted, Request{2_GiB}) << "the first that reads as one";
}

TEST(TestLog, garbage_is_left_out) {
  EXPECT_TRUE(parse_test_log("").empty());
  EXPECT_TRUE(parse_test_log("gputest: admitted x: 3 GiB on y\nTest time = 3 sec\nTest Passed.\n\x01\n").empty());
}

} // namespace
} // namespace gputest::report
