// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/event_details.hpp"

#include "core/os/file.hpp"
#include "core/os/process.hpp"

#include <algorithm>
#include <array>

namespace gputest::runlog {

namespace {

/// The name of an enumerator, by its position.
template <class Enumeration, std::size_t count>
const char* name_of(Enumeration value, const std::array<const char*, count>& names) {
  return names.at(static_cast<std::size_t>(value));
}

constexpr std::array stages{"outside", "entering", "inside", "waiting", "holding", "idle"};
constexpr std::array said_by{"entry", "fixture", "suite", "test", "section", "estimate"};

JsonObject process(const ledger::Record& record) {
  JsonObject object;
  object.text("who", record.who)
      .number("pid", static_cast<std::uint64_t>(record.pid))
      .text("stage", name_of(record.claim.stage, stages))
      .number("lease_bytes", record.claim.lease_bytes)
      .number("overhead_bytes", record.claim.overhead_bytes);
  return object;
}

std::vector<JsonObject> excesses_of(const std::vector<ledger::Excess>& excesses) {
  std::vector<JsonObject> objects;
  for (const auto& excess : excesses) {
    objects.push_back(process(excess.holder));
    objects.back().number("beyond_bytes", excess.bytes).flag("estimated", excess.holder.claim.estimated);
  }
  return objects;
}

} // namespace

JsonObject release_details(double held, const devices::Usage& usage, const std::vector<Device>& devices,
                           std::size_t gpus) {
  std::vector<JsonObject> objects;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices::DeviceUsage use;
    const auto found = std::find_if(usage.devices.begin(), usage.devices.end(), [&](const devices::DeviceUsage& of) {
      return static_cast<std::size_t>(of.device) == i;
    });
    if (found != usage.devices.end()) {
      use = *found;
    } else if (i >= gpus || usage.evidence != devices::Evidence::exact) {
      continue;
    }
    objects.emplace_back();
    objects.back()
        .text("uuid", devices[i].uuid)
        .number("peak_bytes", use.peak.count())
        .flag("with_context", use.with_context);
    if (usage.evidence == devices::Evidence::exact) {
      objects.back().number("kept_bytes", use.kept_at_begin.count());
    }
  }
  JsonObject details;
  details.seconds("held", held).text("evidence", devices::to_string(usage.evidence));
  if (!usage.because.empty()) {
    details.text("because", usage.because);
  }
  return details.objects("devices", objects);
}

JsonObject enter_details(const Entered& entered) {
  std::vector<JsonObject> objects;
  for (std::size_t i = 0; i < entered.devices.size(); ++i) {
    const auto& device = entered.devices[i];
    objects.emplace_back();
    objects.back().text("uuid", device.uuid).text("name", device.name).number("bytes", device.total.count());
    if (i < entered.usable_bytes.size()) {
      objects.back().number("usable_bytes", entered.usable_bytes[i]);
    }
    objects.back().flag("simulated", device.simulated);
  }
  JsonObject details;
  details.objects("devices", objects).number("overhead_bytes", entered.overhead.count());
  details.seconds("waited", entered.waited).flag("under_a_lease", entered.under_a_lease);
  if (const auto program = os::executable_of(os::own_pid())) {
    details.text("program", *program);
  }
  details.flag("worker", entered.worker);
  return entered.why_started.empty() ? details : details.text("started", entered.why_started);
}

JsonObject wait_details(const std::string& what, const ledger::Blocked& blocked) {
  std::vector<JsonObject> blockers;
  for (const auto& blocker : blocked.blockers) {
    blockers.push_back(process(blocker));
  }
  JsonObject details;
  details.text("what", what).objects("blockers", blockers).objects("excesses", excesses_of(blocked.excesses));
  details.flag("external", blocked.external_bytes > 0);
  return blocked.external_bytes > 0 ? details.number("external_bytes", blocked.external_bytes) : details;
}

JsonObject lease_details(const Request& request, Bytes bytes, bool whole_devices, const std::vector<Device>& devices,
                         double waited) {
  std::vector<std::string> uuids;
  for (const auto& device : devices) {
    if (uuids.size() < static_cast<std::size_t>(request.gpus)) {
      uuids.push_back(device.uuid);
    }
  }
  JsonObject details;
  details.text("request", to_string(request)).text("class", to_string(request.memory_class));
  if (request.bytes) {
    details.number("declared_bytes", request.bytes->count());
  }
  return details.number("bytes", bytes.count())
      .flag("whole_devices", whole_devices)
      .texts("devices", uuids)
      .seconds("waited", waited);
}

JsonObject need_details(const Need& need) {
  JsonObject details;
  details.number("bytes", need.bytes.count()).text("evidence", devices::to_string(need.evidence));
  details.number("device_bytes", need.device.total.count()).flag("simulated", need.device.simulated);
  if (need.possible > need.bytes) {
    details.number("possible_bytes", need.possible.count());
  }
  if (need.allowed) {
    details.number("declared_bytes", need.allowed->count());
  }
  if (need.by_test) {
    details.flag("by_test", true);
  }
  return details.text("declared_by", name_of(need.declared_by, said_by));
}

JsonObject out_of_memory_details(const std::string& text, const std::vector<ledger::Excess>& beyond) {
  JsonObject details;
  return details.text("text", text).objects("beyond_claims", excesses_of(beyond));
}

} // namespace gputest::runlog
