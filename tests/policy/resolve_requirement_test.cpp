#include "policy/resolve_requirement.hpp"

#include "policy/make_requirement.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gputest::policy {
namespace {

using namespace literals;

TEST(ResolveRequirement, puts_the_annotation_before_the_fixture_and_the_fixture_before_the_entry) {
  const Requirement small = MemoryClass::small;
  const Requirement medium = MemoryClass::medium;
  const Requirement large = MemoryClass::large;
  struct Case {
    std::string claim;
    std::optional<Requirement> annotation;
    std::optional<MemoryClass> fixture;
    Requirement entry;
    Requirement expected;
  };
  const std::vector<Case> cases{
      {"the entry alone", {}, {}, 3_GiB, 3_GiB},
      {"a small fixture needs no bytes of the entry", {}, MemoryClass::small, 3_GiB, small},
      {"a medium fixture takes the entry's bytes",
       {},
       MemoryClass::medium,
       3_GiB,
       make_requirement(MemoryClass::medium, 3_GiB)},
      {"a large fixture takes the entry's bytes",
       {},
       MemoryClass::large,
       3_GiB,
       make_requirement(MemoryClass::large, 3_GiB)},
      {"a fixture goes before the entry's class", {}, MemoryClass::small, large, small},
      {"a large fixture in a small entry", {}, MemoryClass::large, small, large},
      {"an annotation alone", 3_GiB, {}, large, 3_GiB},
      {"an annotated class goes before the fixture", medium, MemoryClass::large, small, medium},
      {"an annotated class takes no bytes of the entry", medium, {}, 3_GiB, medium},
      {"annotated bytes keep the fixture's class", 3_GiB, MemoryClass::large, small,
       make_requirement(MemoryClass::large, 3_GiB)},
      {"annotated bytes of a small fixture", 1_GiB, MemoryClass::small, small,
       make_requirement(MemoryClass::small, 1_GiB)},
      {"the entry's devices",
       3_GiB,
       {},
       make_requirement(MemoryClass::small, {}, 2),
       make_requirement(MemoryClass::medium, 3_GiB, 2)},
      {"the annotation's devices",
       make_requirement(MemoryClass::large, {}, 4),
       {},
       make_requirement(MemoryClass::small, {}, 2),
       make_requirement(MemoryClass::large, {}, 4)},
      {"a fixture keeps the entry's devices",
       {},
       MemoryClass::large,
       make_requirement(MemoryClass::small, {}, 2),
       make_requirement(MemoryClass::large, {}, 2)},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(resolve_requirement(c.annotation, c.fixture, c.entry)), to_string(c.expected)) << c.claim;
    EXPECT_EQ(resolve_requirement(c.annotation, c.fixture, c.entry), c.expected) << c.claim;
  }
}

TEST(ResolveRequirement, keeps_what_the_entry_requires_of_the_devices_whatever_else_is_said) {
  Requirement entry = MemoryClass::small;
  entry.capabilities = {capabilities::sm(80)};
  Requirement annotation = 3_GiB;
  annotation.capabilities = {capabilities::mig};
  EXPECT_EQ(resolve_requirement({}, MemoryClass::medium, entry).capabilities, entry.capabilities);
  EXPECT_EQ(resolve_requirement(annotation, {}, entry).capabilities,
            (Capabilities{capabilities::sm(80), capabilities::mig}));
}

TEST(ResolveRequirement, keeps_the_entrys_heap_unless_the_annotation_has_one) {
  Requirement entry{MemoryClass::medium};
  entry.heap = 64_MiB;
  Requirement annotation{3_GiB};
  EXPECT_EQ(resolve_requirement(std::nullopt, std::nullopt, entry).heap, 64_MiB);
  EXPECT_EQ(resolve_requirement(std::nullopt, MemoryClass::small, entry).heap, 64_MiB);
  EXPECT_EQ(resolve_requirement(annotation, MemoryClass::small, entry).heap, 64_MiB);
  annotation.heap = 256_MiB;
  EXPECT_EQ(resolve_requirement(annotation, MemoryClass::small, entry).heap, 256_MiB);
}

} // namespace
} // namespace gputest::policy
