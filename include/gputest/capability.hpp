// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/bytes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace gputest {

/// One thing that a test can require of its devices; namespace capabilities names all of them.
class Capability {
public:
  enum class Kind : std::size_t {
    memory_pools,
    managed_memory,
    concurrent_managed_access,
    peer_access,
    cooperative_launch,
    tcc,
    wddm,
    mig,
    sm,
    total_memory,
    free_memory,
  };
  static constexpr std::size_t kinds = 11;

  /// `least`: for an amount, the smallest that is enough.
  constexpr explicit Capability(Kind kind, std::uint64_t least = 1) : kind_{kind}, least_{least} {}

  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr std::uint64_t least() const { return least_; }

private:
  Kind kind_;
  std::uint64_t least_;
};

/// The word for a kind, as settings and messages write it: `memory_pools`, `sm`, `total_memory`.
[[nodiscard]] std::string_view to_string(Capability::Kind kind);

namespace capabilities {

inline constexpr Capability memory_pools{Capability::Kind::memory_pools};     ///< cudaMallocAsync
inline constexpr Capability managed_memory{Capability::Kind::managed_memory}; ///< cudaMallocManaged
/// The host may touch managed memory while a kernel uses it.
inline constexpr Capability concurrent_managed_access{Capability::Kind::concurrent_managed_access};
inline constexpr Capability peer_access{Capability::Kind::peer_access}; ///< between all devices of the test
inline constexpr Capability cooperative_launch{Capability::Kind::cooperative_launch};
inline constexpr Capability tcc{Capability::Kind::tcc};   ///< the driver model TCC
inline constexpr Capability wddm{Capability::Kind::wddm}; ///< the driver model WDDM
inline constexpr Capability mig{Capability::Kind::mig};   ///< a MIG slice

/// At least this compute capability: `sm(80)` for 8.0. A test that asks for one below 10 or above 999 fails.
template <class Number>
constexpr Capability sm(Number least) {
  static_assert(std::is_integral_v<Number>, "sm() takes the compute capability without its point: sm(80) for 8.0");
  return Capability{Capability::Kind::sm, static_cast<std::uint64_t>(least)};
}
/// A device with at least this much memory, including what the driver reserves.
constexpr Capability total_memory(Bytes least) { return Capability{Capability::Kind::total_memory, least.count()}; }
/// A device on which processes other than gputest's tests leave at least this much free when it is chosen.
constexpr Capability free_memory(Bytes least) { return Capability{Capability::Kind::free_memory, least.count()}; }

} // namespace capabilities

/// All that a test requires of each of its devices. If an amount is required twice, the larger one counts.
class Capabilities {
public:
  constexpr Capabilities() = default;
  constexpr Capabilities(std::initializer_list<Capability> all) {
    for (const auto& one : all) {
      auto& least = least_[static_cast<std::size_t>(one.kind())];
      least = std::max(least, one.least());
    }
  }

  /// The smallest amount that is enough; 1 if the capability is not an amount; 0 if it is not required.
  [[nodiscard]] constexpr std::uint64_t least(Capability::Kind kind) const {
    return least_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] constexpr bool has(Capability::Kind kind) const { return least(kind) != 0; }
  [[nodiscard]] bool empty() const { return *this == Capabilities{}; }

  /// What both require together.
  friend Capabilities operator|(Capabilities a, const Capabilities& b) {
    for (std::size_t i = 0; i < Capability::kinds; ++i) {
      a.least_[i] = std::max(a.least_[i], b.least_[i]);
    }
    return a;
  }
  friend bool operator==(const Capabilities& a, const Capabilities& b) { return a.least_ == b.least_; }
  friend bool operator!=(const Capabilities& a, const Capabilities& b) { return !(a == b); }

private:
  std::array<std::uint64_t, Capability::kinds> least_{};
};

/// Reads words such as `memory_pools sm_80 total_memory=40GiB`, with blanks, commas or semicolons between them.
///
/// Throws InvalidSetting, naming `what` and all allowed words, for any other word.
[[nodiscard]] Capabilities parse_capabilities(std::string_view text, std::string_view what = "capabilities");

/// What is certainly a mistake, and what to write instead: `sm(8)`, for sm(80). Empty if there is none. Pure.
[[nodiscard]] std::string mistake_in(const Capabilities& capabilities);

/// Text for messages: `memory_pools, sm_80, total_memory of 40 GiB`. Empty if nothing is required.
[[nodiscard]] std::string to_string(const Capabilities& capabilities);

} // namespace gputest
