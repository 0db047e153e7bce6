// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace gputest::detail {

// Some of what gputest needs of GoogleTest is private. An explicit instantiation may name private members. Those named
// here have their names in GoogleTest 1.12 to 1.18.

/// Makes `member_of(Tag{})` return the member. `Tag` declares that function as a friend, and its type as `Member`.
template <class Tag, typename Tag::Member member>
struct PrivateMember {
  friend typename Tag::Member member_of(Tag /*tag*/) { return member; }
};

// A test may replace GoogleTest's reporter, to which all its assertions report (ScopedFakeTestPartResultReporter in
// gtest-spi.h). If it does not put it back, no failure of a later test in the process is seen.

/// Whether GoogleTest's reporter, of all threads or of this one, is another than at the first call here. Nobody else
/// may report meanwhile.
[[nodiscard]] bool reporter_is_replaced();

/// Records a part of the running test's result, at a place in the source, whatever has replaced the reporter. Does not
/// throw, even if a listener does.
void record_part(::testing::TestPartResult::Type type, const char* file, int line, const std::string& text) noexcept;

} // namespace gputest::detail
