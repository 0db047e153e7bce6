// SPDX-License-Identifier: BSD-3-Clause

// Declared here: GoogleTest's headers would be a second of each consumer's build for these two functions.
namespace testing {
void InitGoogleTest(int* argc, char** argv);
} // namespace testing
namespace gputest {
int run_all_tests();
} // namespace gputest

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return gputest::run_all_tests();
}
