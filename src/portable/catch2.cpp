// SPDX-License-Identifier: BSD-3-Clause
#include <gputest/catch2/run_tests.hpp>

#include <catch2/catch_session.hpp>

namespace gputest {

int run_catch2_tests(int argc, char** argv) { return Catch::Session().run(argc, argv); }

} // namespace gputest
