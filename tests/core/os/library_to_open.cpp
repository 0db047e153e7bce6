// SPDX-License-Identifier: BSD-3-Clause
// A shared library that no test links.
extern "C" int number_of_the_library();

int number_of_the_library() { return 7; }
