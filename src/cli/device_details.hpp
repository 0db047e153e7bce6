#pragma once

#include "cli/devices_report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gputest::cli {

/// For people: a table of what the devices can do, then who uses each and what is odd about it.
[[nodiscard]] std::string details_text(const DevicesReport& report);

/// The same of one device, as keys of its object.
[[nodiscard]] nlohmann::ordered_json details_json(const DevicesReport& report, const DeviceReport& device);

} // namespace gputest::cli
