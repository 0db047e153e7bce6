// SPDX-License-Identifier: BSD-3-Clause
#include "core/runlog/event_details.hpp"

#include "core/os/file_stamp.hpp"
#include "core/os/process.hpp"

#include <algorithm>

namespace gputest::runlog {

namespace {

const char* stage_name(policy::Stage stage) {
  switch (stage) {
  case policy::Stage::outside:
    return "outside";
  case policy::Stage::entering:
    return "entering";
  case policy::Stage::inside:
    return "inside";
  case policy::Stage::waiting:
    return "waiting";
  case policy::Stage::idle:
    return "idle";
  case policy::Stage::holding:
    break;
  }
  return "holding";
}

const char* cause_name(SkipCause cause) {
  switch (cause) {
  case SkipCause::no_gpu:
    return "no_gpu";
  case SkipCause::machine:
    return "machine";
  case SkipCause::run:
    break;
  }
  return "run";
}

const char* name_of(SaidBy by) {
  switch (by) {
  case SaidBy::fixture:
    return "fixture";
  case SaidBy::suite:
    return "suite";
  case SaidBy::test:
    return "test";
  case SaidBy::section:
    return "section";
  case SaidBy::entry:
    break;
  }
  return "entry";
}

JsonObject process(const ledger::Record& record) {
  JsonObject object;
  object.text("who", record.who)
      .number("pid", static_cast<std::uint64_t>(record.pid))
      .text("stage", stage_name(record.claim.stage))
      .number("lease_bytes", record.claim.lease_bytes)
      .number("overhead_bytes", record.claim.overhead_bytes);
  return object;
}

std::vector<JsonObject> excesses_of(const std::vector<ledger::Excess>& excesses) {
  std::vector<JsonObject> objects;
  for (const auto& excess : excesses) {
    objects.push_back(process(excess.holder));
    objects.back().number("beyond_bytes", excess.bytes);
  }
  return objects;
}

const char* kind_name(devices::AllocationKind kind) {
  switch (kind) {
  case devices::AllocationKind::pool:
    return "pool";
  case devices::AllocationKind::managed:
    return "managed";
  case devices::AllocationKind::pinned:
    return "pinned";
  case devices::AllocationKind::device:
    break;
  }
  return "device";
}

std::vector<JsonObject> objects_of(const std::vector<devices::Allocations>& allocations) {
  std::vector<JsonObject> objects;
  for (const auto& allocation : allocations) {
    objects.emplace_back();
    objects.back()
        .text("kind", kind_name(allocation.kind))
        .text("function", allocation.function)
        .number("bytes", allocation.bytes.count())
        .number("count", allocation.count);
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
    JsonObject kinds;
    for (const auto& [kind, bytes] : use.at_peak) {
      kinds.number(kind_name(kind), bytes.count());
    }
    objects.emplace_back();
    objects.back()
        .text("uuid", devices[i].uuid)
        .number("peak_bytes", use.peak.count())
        .object("at_peak", kinds)
        .objects("largest", objects_of(use.largest))
        .objects("left", objects_of(use.left))
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
  details.objects("devices", objects).number("pinned_peak_bytes", usage.pinned_peak.count());
  return details.objects("pinned_left", objects_of(usage.pinned_left));
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
  if (const auto stamp = os::stamp_of("/proc/self/exe")) {
    details.text("program", os::executable_of(os::own_pid()).value_or(""))
        .number("program_bytes", stamp->bytes)
        .number("program_modified", stamp->modified);
  }
  return details.flag("scheduled", entered.scheduled)
      .flag("worker", entered.worker)
      .flag("all_tests", entered.all_tests);
}

JsonObject wait_details(const std::string& what, const ledger::Blocked& blocked) {
  std::vector<JsonObject> blockers;
  for (const auto& blocker : blocked.blockers) {
    blockers.push_back(process(blocker));
  }
  JsonObject details;
  details.text("what", what).objects("blockers", blockers).objects("excesses", excesses_of(blocked.excesses));
  return details.flag("external", blocked.external);
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
  return details.text("declared_by", name_of(request.memory_by))
      .number("bytes", bytes.count())
      .flag("whole_devices", whole_devices)
      .texts("devices", uuids)
      .seconds("waited", waited);
}

JsonObject skip_details(const Outcome& outcome) {
  JsonObject details;
  return details.text("reason", outcome.reason).text("cause", cause_name(outcome.cause));
}

JsonObject out_of_memory_details(const std::string& text, const std::vector<ledger::Excess>& beyond) {
  JsonObject details;
  return details.text("text", text).objects("beyond_claims", excesses_of(beyond));
}

} // namespace gputest::runlog
