// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace gputest::os {

/// This user's folder in /tmp: /tmp/gputest-<uid>, or if somebody else has that, /tmp/gputest-<uid>.<number>. Makes
/// nothing.
///
/// The user's own folder is the answer if there is one, and that with the lowest number if there are several, so that
/// all processes of a user agree, whatever others make or remove. Otherwise it is the first name that nobody has:
/// another user can take any name in /tmp, but not all of them.
[[nodiscard]] std::string user_folder();

} // namespace gputest::os
