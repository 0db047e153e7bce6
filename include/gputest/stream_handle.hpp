// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <utility>

struct CUstream_st; // what cudaStream_t and CUstream point to

namespace gputest {

namespace detail {

using StreamPointer = CUstream_st*;

template <class Stream, class = void>
struct HasGet : std::false_type {};
template <class Stream>
struct HasGet<Stream,
              std::enable_if_t<std::is_convertible_v<decltype(std::declval<const Stream&>().get()), StreamPointer>>>
    : std::true_type {};

template <class Stream, class = void>
struct HasValue : std::false_type {};
template <class Stream>
struct HasValue<Stream,
                std::enable_if_t<std::is_convertible_v<decltype(std::declval<const Stream&>().value()), StreamPointer>>>
    : std::true_type {};

} // namespace detail

/// A CUDA stream: `cudaStream_t`, `cuda::stream_ref` or `rmm::cuda_stream_view`. Owns nothing.
///
/// Converts from each of them, so that a function that takes a stream needs no CUDA header. Default: the default
/// stream.
class StreamHandle {
public:
  constexpr StreamHandle() = default;

  /// From any type that converts to `cudaStream_t`, or returns it from `get()` or `value()`.
  template <class Stream, std::enable_if_t<!std::is_same_v<Stream, StreamHandle> &&
                                               (std::is_convertible_v<const Stream&, detail::StreamPointer> ||
                                                detail::HasGet<Stream>::value || detail::HasValue<Stream>::value),
                                           int> = 0>
  StreamHandle(const Stream& stream) { // NOLINT(google-explicit-constructor): it stands for its argument
    if constexpr (std::is_convertible_v<const Stream&, detail::StreamPointer>) {
      stream_ = stream;
    } else if constexpr (detail::HasGet<Stream>::value) {
      stream_ = stream.get();
    } else {
      stream_ = stream.value();
    }
  }

  [[nodiscard]] constexpr detail::StreamPointer get() const { return stream_; }

private:
  detail::StreamPointer stream_ = nullptr;
};

} // namespace gputest
