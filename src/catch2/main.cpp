// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/catch2/run_tests.hpp>

int main(int argc, char** argv) { return gputest::run_catch2_tests(argc, argv); }
