// SPDX-License-Identifier: BSD-3-Clause
#include "cli/application.hpp"

int main(int argc, char** argv) { return gputest::cli::run_application({argv + (argc > 0 ? 1 : 0), argv + argc}); }
