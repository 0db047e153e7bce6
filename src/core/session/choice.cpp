// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/choice.hpp"

#include <algorithm>
#include <iterator>

namespace gputest::session {

namespace {

bool contains(const std::vector<std::size_t>& indices, std::size_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

} // namespace

policy::DeviceKinds kinds_of(const devices::DeviceList& machine, const std::vector<std::size_t>& indices) {
  policy::DeviceKinds kinds;
  for (const std::size_t index : indices) {
    (machine.facts(index, devices::AskDriver::no).mig ? kinds.slices : kinds.whole).push_back(index);
  }
  return kinds;
}

Choice choose(const std::vector<std::size_t>& allowed, const policy::DeviceKinds& kinds, std::size_t gpus,
              const Capabilities& required, const CapableDevices& capable, ledger::Ledger& ledger) {
  Choice choice;
  choice.gpus = std::min(gpus, policy::max_for_a_process(kinds));
  choice.candidates = policy::candidates_for(kinds, allowed, choice.gpus);
  if (auto able = capable.capable(required, choice.candidates, ledger); able.size() >= choice.gpus) {
    choice.candidates = std::move(able); // otherwise each test is skipped with what its devices lack
  }
  return choice;
}

Choice already_chosen(const std::vector<std::size_t>& seen, const OwnContexts& contexts, std::size_t gpus) {
  const auto used = contexts.all();
  auto taken = used;
  for (const std::size_t index : seen) {
    if (taken.size() < gpus && !contains(taken, index)) {
      taken.push_back(index);
    }
  }
  Choice choice;
  choice.present = true;
  choice.gpus = taken.size();
  for (const std::size_t index : seen) {
    if (contains(taken, index)) {
      choice.candidates.push_back(index);
    }
  }
  choice.first_seen = std::equal(choice.candidates.begin(), choice.candidates.end(), seen.begin());
  for (const std::size_t index : used) {
    if (!contains(seen, index)) {
      choice.candidates.push_back(index); // CUDA_VISIBLE_DEVICES has changed since
    }
  }
  return choice;
}

std::vector<std::size_t> largest_of(const Choice& choice, const devices::DeviceList& machine) {
  auto largest = choice.candidates;
  std::stable_sort(largest.begin(), largest.end(),
                   [&](std::size_t a, std::size_t b) { return machine.usable_bytes(a) > machine.usable_bytes(b); });
  largest.resize(std::min(largest.size(), choice.gpus));
  std::vector<std::size_t> in_order;
  std::copy_if(choice.candidates.begin(), choice.candidates.end(), std::back_inserter(in_order),
               [&](std::size_t index) { return contains(largest, index); });
  return in_order;
}

std::size_t gpus_of(const Plan& plan) {
  int gpus = 1;
  for (const auto& request : plan.requests) {
    gpus = std::max(gpus, request.gpus);
  }
  return static_cast<std::size_t>(gpus);
}

std::string why_fewer(const policy::DeviceKinds& kinds, std::size_t wanted) {
  if (kinds.slices.empty() || policy::max_for_a_process(kinds) >= wanted) {
    return "";
  }
  return "of the devices that it may use " + std::to_string(kinds.slices.size()) + " are MIG slices and " +
         std::to_string(kinds.whole.size()) +
         " are whole GPUs; CUDA gives a process one MIG slice and no device beside it, so several devices can only be "
         "whole GPUs";
}

} // namespace gputest::session
