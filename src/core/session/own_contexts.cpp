// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/own_contexts.hpp"

#include "core/os/process.hpp"

#include <algorithm>
#include <utility>

namespace gputest::session {

OwnContexts::OwnContexts(std::shared_ptr<const devices::DeviceList> machine, const devices::ThisProcess& process)
    : machine_{std::move(machine)}, begun_before_{process.in_use()} {
  // Under a parent lease a list is rarely read: it is not worth opening the driver for.
  if (!begun_before_ && machine_->is_open()) {
    const auto listed = all();
    listed_for_others_.insert(listed.begin(), listed.end());
  }
}

std::optional<OwnContext> OwnContexts::on(std::size_t index) const {
  const auto use = machine_->memory(index);
  if (!use.processes || listed_for_others_.count(index) != 0) {
    return std::nullopt;
  }
  const auto own = std::find_if(use.processes->begin(), use.processes->end(),
                                [](const devices::ProcessMemory& process) { return process.pid == os::own_pid(); });
  if (own == use.processes->end()) {
    return std::nullopt;
  }
  return OwnContext{own->used_bytes ? std::optional{Bytes{*own->used_bytes}} : std::nullopt};
}

Bytes OwnContexts::used(std::size_t index) const { return on(index).value_or(OwnContext{}).used.value_or(Bytes{}); }

std::vector<std::size_t> OwnContexts::all() const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < machine_->devices().size(); ++i) {
    if (on(i)) {
      indices.push_back(i);
    }
  }
  return indices;
}

} // namespace gputest::session
