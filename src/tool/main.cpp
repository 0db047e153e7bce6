// SPDX-License-Identifier: BSD-3-Clause
#include "tool/application.hpp"

int main(int argc, char** argv) { return gputest::tool::run_application({argv + (argc > 0 ? 1 : 0), argv + argc}); }
