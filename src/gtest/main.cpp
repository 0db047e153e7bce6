// SPDX-License-Identifier: BSD-3-Clause

// Declared here: GoogleTest's headers would be a second of each consumer's build for these functions. GoogleMock's is
// there only where the executable links it.
namespace testing {
void InitGoogleTest(int* argc, char** argv);
void InitGoogleMock(int* argc, char** argv) __attribute__((weak));
} // namespace testing
namespace gputest {
int run_all_tests();
} // namespace gputest

int main(int argc, char** argv) {
  if (&::testing::InitGoogleMock != nullptr) { // reads GoogleTest's flags, too
    ::testing::InitGoogleMock(&argc, argv);
  } else {
    ::testing::InitGoogleTest(&argc, argv);
  }
  return gputest::run_all_tests();
}
