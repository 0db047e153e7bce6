// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

// What `--help` says below the list of options.
namespace gputest::tool {

[[nodiscard]] std::string main_help();
[[nodiscard]] std::string run_help();
[[nodiscard]] std::string devices_help();
[[nodiscard]] std::string status_help();
[[nodiscard]] std::string plan_help();
[[nodiscard]] std::string report_help();
[[nodiscard]] std::string classify_help();
[[nodiscard]] std::string isolate_help();

} // namespace gputest::tool
