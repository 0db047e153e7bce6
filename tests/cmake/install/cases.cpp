// SPDX-License-Identifier: BSD-3-Clause
// Discovered tests that look for what they have been given, and a file of the project.

#include <gputest/gputest.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

int helper();

namespace {

class Small : public gputest::SmallTest {};
class Medium : public gputest::MediumTest {};
class Large : public gputest::LargeTest {};
class Host : public gputest::HostTest {};

TEST_F(Small, has_a_device) {
  EXPECT_FALSE(gputest::current_devices().empty());
  EXPECT_EQ(helper(), 7);
}

TEST_F(Medium, half_of_the_device) { EXPECT_FALSE(gputest::current_devices().empty()); }

TEST_F(Large, the_whole_device) { EXPECT_FALSE(gputest::current_devices().empty()); }

GPUTEST_NEEDS(Small, two_devices, small, gpus(2));
TEST_F(Small, two_devices) { EXPECT_EQ(gputest::current_devices().size(), 2U); }

TEST_F(Host, reads_a_file) {
  std::string data;
  for (const auto& argument : testing::internal::GetArgvs()) {
    if (argument.compare(0, 7, "--data=") == 0) {
      data = argument.substr(7);
    }
  }
  std::ifstream file{data + "/text"};
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "some text") << data;
}

} // namespace
