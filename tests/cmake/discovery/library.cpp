// SPDX-License-Identifier: BSD-3-Clause
const char* text_of_a_library();
const char* text_of_a_library() { return "start\n"; }
