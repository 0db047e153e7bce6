// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <thread>

namespace gputest::metering {

/// Starts a thread that no signal is delivered to, so that the program's own threads handle theirs. Throws
/// std::system_error.
[[nodiscard]] std::thread start_background_thread(std::function<void()> function);

} // namespace gputest::metering
