// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/stream_handle.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

namespace gputest {
namespace {

CUstream_st* some_stream() {
  static char place = 0;
  return reinterpret_cast<CUstream_st*>(&place);
}

/// As cuda::stream_ref.
struct WithGet {
  [[nodiscard]] CUstream_st* get() const { return some_stream(); }
};

/// As rmm::cuda_stream_view.
struct WithValue {
  [[nodiscard]] CUstream_st* value() const { return some_stream(); }
  operator CUstream_st*() const { return value(); } // NOLINT(google-explicit-constructor): as there
};

struct OnlyValue {
  [[nodiscard]] CUstream_st* value() const { return some_stream(); }
};

TEST(StreamHandle, stands_for_the_stream_of_every_library) {
  EXPECT_EQ(StreamHandle{}.get(), nullptr);
  EXPECT_EQ(StreamHandle{nullptr}.get(), nullptr);
  EXPECT_EQ(StreamHandle{some_stream()}.get(), some_stream());
  EXPECT_EQ(StreamHandle{WithGet{}}.get(), some_stream());
  EXPECT_EQ(StreamHandle{WithValue{}}.get(), some_stream());
  EXPECT_EQ(StreamHandle{OnlyValue{}}.get(), some_stream());
}

TEST(StreamHandle, is_made_of_nothing_else) {
  // Else allocate(bytes, alignment) and allocate(stream, bytes) would be ambiguous.
  EXPECT_FALSE((std::is_convertible_v<int, StreamHandle>));
  EXPECT_FALSE((std::is_convertible_v<std::size_t, StreamHandle>));
  EXPECT_FALSE((std::is_convertible_v<void*, StreamHandle>));
  EXPECT_FALSE((std::is_convertible_v<int*, StreamHandle>));
}

} // namespace
} // namespace gputest
