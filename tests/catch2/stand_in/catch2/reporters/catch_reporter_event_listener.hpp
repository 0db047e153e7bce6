// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stand_in.hpp"
