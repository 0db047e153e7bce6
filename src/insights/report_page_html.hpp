// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace gputest::insights {

/// The file report_page.html, in which the data takes the place of `@DATA@`. CMake makes its source.
extern const char* const report_page_html;

} // namespace gputest::insights
