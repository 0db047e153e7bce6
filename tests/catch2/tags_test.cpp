// SPDX-License-Identifier: BSD-3-Clause
// What tags say, without Catch2.

#include "catch2/tags.hpp"

#include <gputest/error.hpp>

#include <gmock/gmock.h>

namespace gputest::catch2 {
namespace {

using namespace literals;
using testing::HasSubstr;

/// The message about these tags; empty if they can be used.
std::string refusal_of(const std::vector<std::string>& tags) {
  try {
    static_cast<void>(needs_of(tags));
  } catch (const InvalidSetting& error) {
    return error.what();
  }
  return "";
}

TEST(Tags, say_a_size_or_a_class_and_a_number_of_devices) {
  const auto sized = needs_of({"sort", "gpu:1.5GiB", "gpus:2"});
  EXPECT_EQ(sized.bytes, 1536_MiB);
  EXPECT_EQ(sized.gpus, 2);
  EXPECT_EQ(sized.memory_class, std::nullopt);
  EXPECT_FALSE(sized.no_gpu);
  EXPECT_EQ(needs_of({"gpu_small"}).memory_class, MemoryClass::small);
  EXPECT_EQ(needs_of({"gpu_medium"}).memory_class, MemoryClass::medium);
  const auto large = needs_of({"gpu_large", "gpus:16"});
  EXPECT_EQ(large.memory_class, MemoryClass::large);
  EXPECT_EQ(large.gpus, 16);
  EXPECT_TRUE(needs_of({"no_gpu"}).no_gpu);
  EXPECT_TRUE(needs_of({"gpu:1GiB", "gpu_alone"}).alone);
  EXPECT_FALSE(needs_of({"gpu:1GiB"}).alone);
}

TEST(Tags, of_others_say_nothing) {
  const auto needs =
      needs_of({"gpu", "gpuarray", "cpu:3GiB", ".", "!mayfail", "mygpu_small", "a gpus:2", "no_gpus", ""});
  EXPECT_FALSE(needs.says_gpu());
  EXPECT_FALSE(needs.no_gpu);
}

TEST(Tags, that_look_like_gputests_are_refused_with_those_that_are_allowed) {
  for (const std::string tag : {"gpu_meduim", "gpu_", "gpu-3GiB", "gpus", "gpus=2", "gpu_small_"}) {
    EXPECT_EQ(refusal_of({"gpus:2", tag}),
              "the tag [" + tag +
                  "] is none of gputest's; allowed are [gpu_small], [gpu_medium], [gpu_large], [gpu_alone], "
                  "[gpu:<size>] as in [gpu:3GiB] and [gpus:<n>] as in [gpus:2]");
  }
}

TEST(Tags, have_numbers_and_sizes_that_can_be_read) {
  for (const std::string number : {"many", "", "2x", " 2", "2.5", "99999999999"}) {
    EXPECT_EQ(refusal_of({"gpus:" + number}),
              "the tag [gpus:" + number + "] has no number of GPUs; write 1 to 16, as in [gpus:2]");
  }
  EXPECT_THAT(refusal_of({"gpus:0"}), HasSubstr("the tags say "));
  EXPECT_THAT(refusal_of({"gpus:17"}), HasSubstr("the tags say "));
  EXPECT_THAT(refusal_of({"gpu:3GB"}), HasSubstr("the size in the tag [gpu:3GB] '3GB' has an unknown unit 'GB'"));
}

TEST(Tags, say_each_thing_once) {
  const std::string again = "] says again what another tag says; say it once";
  EXPECT_EQ(refusal_of({"gpu:1GiB", "x", "gpu:2GiB"}), "the tag [gpu:2GiB" + again);
  EXPECT_EQ(refusal_of({"gpus:2", "gpus:2"}), "the tag [gpus:2" + again);
  EXPECT_EQ(refusal_of({"gpu_small", "gpu_large"}), "the tag [gpu_large" + again);
}

TEST(Tags, do_not_contradict_each_other) {
  EXPECT_THAT(refusal_of({"gpu_small", "gpu:3GiB"}), HasSubstr("the tags say small and 3 GiB"));
  EXPECT_THAT(refusal_of({"no_gpu", "gpus:2"}), HasSubstr("the tags say no_gpu and what it needs of a GPU"));
}

} // namespace
} // namespace gputest::catch2
