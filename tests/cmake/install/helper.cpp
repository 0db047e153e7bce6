// SPDX-License-Identifier: BSD-3-Clause
// A shared library of the project that a test needs.

int helper();

int helper() { return 7; }
