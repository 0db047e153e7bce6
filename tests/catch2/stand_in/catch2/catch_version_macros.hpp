// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#define CATCH_VERSION_MAJOR 3
#define CATCH_VERSION_MINOR 3
