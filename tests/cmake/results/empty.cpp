// SPDX-License-Identifier: BSD-3-Clause
// An executable whose tests the linker has left out.
