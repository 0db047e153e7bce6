// SPDX-License-Identifier: BSD-3-Clause
#include "kept_environments.hpp"

#include <cstring>

namespace gputest::detail {

namespace {

using ::testing::Environment;
using ::testing::UnitTest;
using Implementation = ::testing::internal::UnitTestImpl;

// The member is private, and has this name in GoogleTest 1.12 to 1.18. An explicit instantiation may name it.
struct ImplementationMember {
  friend Implementation*& member_of(UnitTest& unit_test, ImplementationMember /*member*/);
};
template <class Tag, Implementation* UnitTest::*Member>
struct Access {
  friend Implementation*& member_of(UnitTest& unit_test, Tag /*member*/) { return unit_test.*Member; }
};
template struct Access<ImplementationMember, &UnitTest::impl_>;

/// GoogleTest's object up to its result for what is outside of tests, which comes after its environments. Empty if that
/// result is elsewhere.
Words googletests_object() {
  constexpr std::size_t most_bytes = 4096; // ten times what it has in 1.12 to 1.18
  auto& unit_test = *UnitTest::GetInstance();
  const void* const begin = member_of(unit_test, ImplementationMember{});
  const auto bytes = reinterpret_cast<std::uintptr_t>(&unit_test.ad_hoc_test_result()) - // NOLINT
                     reinterpret_cast<std::uintptr_t>(begin);                            // NOLINT
  Words words(bytes <= most_bytes ? bytes / sizeof(std::uintptr_t) : 0);
  std::memcpy(words.data(), begin, words.size() * sizeof(std::uintptr_t));
  return words;
}

} // namespace

std::optional<std::size_t> find_vector(const Words& before, const Words& after, const Environment* added) {
  for (std::size_t word = 0; word + 2 < after.size(); ++word) {
    // The three pointers of a std::vector in libstdc++ and libc++.
    const auto begin = after[word];
    const auto end = after[word + 1];
    const auto end_of_capacity = after[word + 2];
    if (end != before[word + 1] && end % alignof(Environment*) == 0 && begin < end && end <= end_of_capacity &&
        reinterpret_cast<const Environment* const*>(end)[-1] == added) { // NOLINT
      return word;
    }
  }
  return std::nullopt;
}

KeptEnvironments& KeptEnvironments::append() {
  // GoogleTest owns both.
  auto* const kept = new KeptEnvironments; // NOLINT(cppcoreguidelines-owning-memory)
  UnitTest::GetInstance()->listeners().Append(kept);
  const auto before = googletests_object();
  const auto* const added =
      ::testing::AddGlobalTestEnvironment(new Environment); // NOLINT(cppcoreguidelines-owning-memory)
  kept->vector_ = find_vector(before, googletests_object(), added);
  return *kept;
}

std::pair<Environment**, Environment**> KeptEnvironments::places() const {
  if (!vector_) {
    return {nullptr, nullptr};
  }
  const auto object = googletests_object();
  return {reinterpret_cast<Environment**>(object[*vector_]),      // NOLINT
          reinterpret_cast<Environment**>(object[*vector_ + 1])}; // NOLINT
}

void KeptEnvironments::OnTestProgramEnd(const UnitTest& /*unit_test*/) {
  const auto [begin, end] = places();
  for (auto* place = begin; place != end; ++place) {
    taken_.push_back(std::exchange(*place, new Environment)); // NOLINT(cppcoreguidelines-owning-memory)
  }
}

bool KeptEnvironments::put_back() {
  const auto [begin, end] = places();
  const auto taken = std::exchange(taken_, {});
  googletest_deletes_ = googletest_deletes_ || (begin == end && !taken.empty());
  auto* place = begin;
  for (auto* const environment : taken) {
    if (googletest_deletes_) {
      ::testing::AddGlobalTestEnvironment(environment);
    } else {
      delete std::exchange(*place++, environment); // NOLINT(cppcoreguidelines-owning-memory)
    }
  }
  return vector_.has_value();
}

void KeptEnvironments::end() {
  if (googletest_deletes_) {
    OnTestProgramEnd(*UnitTest::GetInstance());
    for (auto* const environment : std::exchange(taken_, {})) {
      delete environment; // NOLINT(cppcoreguidelines-owning-memory)
    }
  }
}

} // namespace gputest::detail
