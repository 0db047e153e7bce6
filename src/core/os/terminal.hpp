// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

namespace gputest::os {

/// How many characters a line of the terminal has on which people read standard error; nullopt if it is no terminal, or
/// one that cannot rewrite a line.
[[nodiscard]] std::optional<unsigned> width_of_error_terminal();

} // namespace gputest::os
