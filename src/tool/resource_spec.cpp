// SPDX-License-Identifier: BSD-3-Clause
#include "tool/resource_spec.hpp"

#include "core/os/ctest_process.hpp"
#include "core/os/environment.hpp"
#include "core/os/process.hpp"
#include "core/policy/request.hpp"
#include "core/policy/visible_devices.hpp"
#include "core/settings/settings.hpp"
#include "tool/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

namespace gputest::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mebibyte = 1ULL << 20U;

/// A device as CTest knows it, in MiB.
struct Resource {
  const DeviceReport* device = nullptr;
  std::uint64_t total = 0;
  std::uint64_t free = 0;
};

std::uint64_t rounded_up(Bytes bytes) { return (bytes.count() + mebibyte - 1) / mebibyte; }

/// Those of which tests can have something.
std::vector<Resource> resources_of(const DevicesReport& report) {
  std::vector<Resource> resources;
  for (const auto& device : report.devices) {
    if (const auto free = bytes_for_tests(device); free && free->count() >= mebibyte) {
      const Bytes total = device.device.total - Bytes{device.reserved_bytes};
      resources.push_back({&device, total.count() / mebibyte, free->count() / mebibyte});
    }
  }
  return resources;
}

/// One slot is 1 MiB of a device. CTest shows it to a test as CTEST_RESOURCE_GROUP_<i>_GPUTEST_MIB.
constexpr const char* resource_type = "gputest_mib";

constexpr std::string_view file_prefix = "resource-spec-";

/// A name for the ctest above this process. Several machines and containers may share a build tree, and so pids.
std::string file_of_this_ctest() {
  const auto ctest = os::parent_of(os::own_pid()).value_or(0);
  return fmt::format("{}{:x}-{}-{}.json", file_prefix, os::pids_identity(), ctest,
                     os::start_time_of(ctest).value_or(0));
}

/// ctest reads its file within seconds.
void remove_old_files(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator{folder, ignored}) {
    if (fs::is_regular_file(file.symlink_status(ignored)) &&
        file.path().filename().string().compare(0, file_prefix.size(), file_prefix) == 0 &&
        fs::file_time_type::clock::now() - file.last_write_time(ignored) > std::chrono::minutes{10}) {
      fs::remove(file.path(), ignored);
    }
  }
}

void replace_file(const fs::path& file, const std::string& text) {
  const fs::path new_file = file.string() + "." + std::to_string(os::own_pid());
  {
    std::ofstream out{new_file};
    out << text;
    out.close();
    if (!out) {
      throw fs::filesystem_error{"it cannot be written", new_file, std::make_error_code(std::errc::io_error)};
    }
  }
  fs::rename(new_file, file);
}

/// Whether the user has, or may have, a resource spec file of their own, or wants none.
bool is_left_to_user() {
  const auto scheduling = settings::parse_scheduling(os::read_variable);
  if (scheduling == settings::Scheduling::ledger) {
    return true;
  }
  const auto users = os::find_users_resource_spec();
  return users == os::UsersResourceSpec::named ||
         (users == os::UsersResourceSpec::possible && scheduling != settings::Scheduling::ctest);
}

} // namespace

std::string resource_spec(const DevicesReport& report) {
  std::string devices;
  for (const auto& resource : resources_of(report)) {
    devices += fmt::format("{}\n    {{\"id\": \"{}\", \"slots\": {}}}", devices.empty() ? "" : ",",
                           policy::resource_id_of(resource.device->device.uuid), resource.free);
  }
  if (devices.empty()) {
    return "";
  }
  return fmt::format("{{\"version\": {{\"major\": 1, \"minor\": 0}}, \"local\": [{{\"{}\": [{}\n]}}]}}\n",
                     resource_type, devices);
}

std::string resource_facts(const DevicesReport& report, const std::string& file) {
  std::string devices;
  std::uint64_t context = 0;
  std::uint64_t largest = 0;
  std::optional<Bytes> smallest;
  for (const auto& resource : resources_of(report)) {
    const auto& device = *resource.device;
    devices += fmt::format(" \"{} {} {}\"", resource.total, resource.free, device.facts.mig ? "slice" : "whole");
    context = std::max(context, rounded_up(Bytes{device.next_context_bytes}));
    largest = std::max(largest, resource.total);
    smallest = std::min(smallest.value_or(device.device.total), device.device.total);
  }
  // One process at a time can use such a device: a server of MPS would keep all others from it. A slice needs one of
  // its own.
  const bool suits_mps = std::none_of(report.devices.begin(), report.devices.end(), [](const auto& device) {
    return device.visible && (device.facts.compute_mode == policy::ComputeMode::exclusive_process || device.facts.mig);
  });
  const auto small = policy::to_memory_request(MemoryClass::small, Bytes{});
  const auto medium = policy::to_memory_request(MemoryClass::medium, smallest.value_or(Bytes{}));
  const std::uint64_t alone = context == 0 ? 1 : 0; // two halves are a whole device
  return fmt::format("set(gputest_resource_spec \"{}\")\n"
                     "set(gputest_devices{})\n"
                     "set(gputest_largest_mib {})\n"
                     "set(gputest_context_mib {})\n"
                     "set(gputest_small_mib {})\n"
                     "set(gputest_medium_mib {})\n"
                     "set(gputest_beside_heap_mib {})\n"
                     "{}",
                     file, devices, largest, context, rounded_up(small.bytes), rounded_up(medium.bytes) + alone,
                     rounded_up(policy::heap_cost(Bytes{mebibyte})) - 1,
                     suits_mps ? "" : "if(NOT DEFINED ENV{GPUTEST_MPS})\n  set(ENV{GPUTEST_MPS} off)\nendif()\n");
}

void write_resource_spec(const std::string& folder) {
  const auto settings = settings_from_environment();
  if (is_left_to_user()) {
    return;
  }
  const auto report = look_at_devices(settings, devices::AskDriver::no);
  const auto text = resource_spec(report);
  if (text.empty()) {
    return;
  }
  const auto file = file_of_this_ctest();
  fs::create_directories(folder);
  remove_old_files(folder);
  replace_file(fs::path{folder} / file, text);
  fmt::print("{}", resource_facts(report, file));
}

} // namespace gputest::tool
