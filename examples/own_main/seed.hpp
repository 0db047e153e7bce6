// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// What `--seed=<n>` on the command line said; 1 without it.
[[nodiscard]] unsigned seed();
