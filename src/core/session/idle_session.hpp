// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

namespace gputest::detail {

/// The session of this process, if it has one, between two cases of a worker. See session::DeviceSession for each of
/// these; without a session there is nothing to give up, and no reason to leave. Not while other threads use the
/// session.
void set_session_idle();
[[nodiscard]] bool resume_session();
[[nodiscard]] std::optional<int> leave_descriptor_of_session();

} // namespace gputest::detail
