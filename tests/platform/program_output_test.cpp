// SPDX-License-Identifier: BSD-3-Clause
#include "platform/program_output.hpp"

#include <gtest/gtest.h>

namespace gputest::platform {
namespace {

TEST(ProgramOutput, is_all_that_the_program_writes) {
  EXPECT_EQ(output_of({"/bin/echo", "two words", ""}), "two words \n");
  EXPECT_EQ(output_of({"/bin/sh", "-c", "head -c 300000 /dev/zero; echo error >&2"})->size(), 300000U);
}

TEST(ProgramOutput, gives_the_program_nothing_to_read) { EXPECT_EQ(output_of({"/bin/cat"}), ""); }

TEST(ProgramOutput, is_none_of_a_program_that_fails_or_is_not_there) {
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo text; exit 3"}), std::nullopt);
  EXPECT_EQ(output_of({"/bin/sh", "-c", "kill -9 $$"}), std::nullopt);
  EXPECT_EQ(output_of({"/no/such/program"}), std::nullopt);
  EXPECT_EQ(output_of({}), std::nullopt);
}

} // namespace
} // namespace gputest::platform
