// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gputest/simulated_buffer.hpp>

/// Stands for cudaMalloc().
inline gputest::SimulatedBuffer take(unsigned long mib) { return gputest::SimulatedBuffer{gputest::Bytes{mib << 20U}}; }
