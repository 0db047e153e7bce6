// SPDX-License-Identifier: BSD-3-Clause
#include "test_part.hpp"

#include <gtest/gtest-spi.h>

namespace gputest::detail {

// What a fake reporter has replaced shows only in it. (What SUCCEED() leaves would show it as well, but the user's
// listeners would hear it, and a fake reporter may write to a list that is gone.)
struct ReplacedReporter {
  using Member = ::testing::TestPartResultReporterInterface* ::testing::ScopedFakeTestPartResultReporter::*;
  friend Member member_of(ReplacedReporter /*tag*/);
};
template struct PrivateMember<ReplacedReporter, &::testing::ScopedFakeTestPartResultReporter::old_reporter_>;

namespace {

using ::testing::TestPartResult;
using Reporter = ::testing::TestPartResultReporterInterface;
using Fake = ::testing::ScopedFakeTestPartResultReporter;

Reporter* reporter_of(Fake::InterceptMode threads) {
  ::testing::TestPartResultArray unused;
  return Fake{threads, &unused}.*member_of(ReplacedReporter{});
}

struct Reporters {
  Reporter* of_all_threads = reporter_of(Fake::INTERCEPT_ALL_THREADS);
  Reporter* of_this_thread = reporter_of(Fake::INTERCEPT_ONLY_CURRENT_THREAD);
};

const Reporters& first_reporters() {
  static const Reporters first;
  return first;
}

} // namespace

bool reporter_is_replaced() {
  const auto& first = first_reporters();
  const Reporters now;
  return now.of_all_threads != first.of_all_threads || now.of_this_thread != first.of_this_thread;
}

void record_part(TestPartResult::Type type, const char* file, int line, const std::string& text) noexcept {
  try {
    const char* const what = type == TestPartResult::kSkip ? "" : "Failed"; // as GTEST_SKIP() and FAIL() say
    if (reporter_is_replaced()) {
      const auto message = *what == '\0' ? text : std::string{what} + "\n" + text;
      first_reporters().of_all_threads->ReportTestPartResult({type, file, line, message.c_str()});
    } else {
      GTEST_MESSAGE_AT_(file, line, what, type) << text;
    }
  } catch (...) { // NOLINT(bugprone-empty-catch): GoogleTest has recorded it, and a listener threw
  }
}

} // namespace gputest::detail
