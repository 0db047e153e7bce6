// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace gputest::detail {

// Some of what gputest needs of GoogleTest is private. An explicit instantiation may name private members. Those named
// here have their names in GoogleTest 1.12 to 1.18.

/// Makes `member_of(Tag{})` return the member. `Tag` declares that function as a friend, and its type as `Member`.
template <class Tag, typename Tag::Member member>
struct PrivateMember {
  friend typename Tag::Member member_of(Tag /*tag*/) { return member; }
};

} // namespace gputest::detail
