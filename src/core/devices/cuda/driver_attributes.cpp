// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/driver_attributes.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/cuda/cuda_driver_library.hpp"
#include "core/os/environment.hpp"
#include "core/os/program_output.hpp"

#include <algorithm>
#include <chrono>
#include <locale>
#include <optional>
#include <sstream>

namespace gputest::devices {

namespace {

/// Longer than the driver takes for the 16 GPUs of the largest machine; what has not answered by then is stuck.
constexpr std::chrono::seconds longest_answer{30};

/// The driver's answer on its way through the pipe: `why <text>`, or a line of words for each device.
using Text = std::string;

/// An attribute that an older driver does not know is one that its devices do not have.
int attribute_of(const cuda::Functions& functions, int attribute, cuda::Device device) {
  int value = 0;
  return functions.attribute(&value, attribute, device) == cuda::success ? value : 0;
}

/// What the driver says in this process.
Text answer(const cuda::Library& library, const std::vector<std::string>& uuids) {
  const auto& functions = library.functions();
  std::vector<std::pair<cuda::Device, std::string>> asked;
  for (int ordinal = 0; ordinal < library.device_count(); ++ordinal) {
    cuda::Device device = 0;
    cuda::Uuid uuid{};
    if (functions.device(&device, ordinal) == cuda::success && functions.uuid != nullptr &&
        functions.uuid(&uuid, device) == cuda::success) {
      if (auto full = cuda::full_uuid(uuids, uuid); !full.empty()) {
        asked.emplace_back(device, std::move(full));
      }
    }
  }
  std::ostringstream text;
  text.imbue(std::locale::classic());
  for (const auto& [device, uuid] : asked) {
    text << uuid << ' '
         << attribute_of(functions, cuda::compute_capability_major, device) * 10 +
                attribute_of(functions, cuda::compute_capability_minor, device);
    for (const int attribute : {cuda::has_memory_pools, cuda::has_managed_memory, cuda::concurrent_managed_access,
                                cuda::cooperative_launch, cuda::integrated}) {
      text << ' ' << (attribute_of(functions, attribute, device) != 0 ? 1 : 0);
    }
    for (const auto& [peer, uuid_of_peer] : asked) {
      int can = 0;
      if (peer != device && functions.can_access_peer != nullptr &&
          functions.can_access_peer(&can, device, peer) == cuda::success && can != 0) {
        text << ' ' << uuid_of_peer;
      }
    }
    text << '\n';
  }
  return text.str();
}

/// Opens the driver and asks it, in a process of which nothing else is wanted.
Text answer_of_child(const std::vector<std::string>& uuids) {
  std::string visible;
  for (const auto& uuid : uuids) {
    visible += (visible.empty() ? "" : ",") + uuid;
  }
  os::set_variable("CUDA_VISIBLE_DEVICES", visible);
  std::string why;
  const auto library = cuda::Library::initialised(why);
  return library ? answer(*library, uuids) : "why " + why;
}

Text ask_in_child(const std::vector<std::string>& uuids) {
  using Kind = os::ChildAnswer::Kind;
  const auto answer = os::ask_in_child(
      [&] {
        try {
          return answer_of_child(uuids);
        } catch (const std::exception& error) {
          return std::string{"why "} + error.what();
        }
      },
      longest_answer);
  switch (answer.kind) {
  case Kind::no_child:
    return "why " + answer.text;
  case Kind::late:
    return "why the CUDA driver did not answer within " + std::to_string(longest_answer.count()) + " s";
  case Kind::crashed:
    return "why the CUDA driver crashed";
  case Kind::answered:
    break;
  }
  return answer.text;
}

Text ask(const std::vector<std::string>& uuids) {
  if (!cuda_is_initialised()) {
    return ask_in_child(uuids);
  }
  const auto library = cuda::Library::if_loaded();
  return library ? answer(*library, uuids) : "";
}

std::optional<DriverAttributes> read_line(const std::string& line) {
  std::istringstream words{line};
  DriverAttributes device;
  words >> device.uuid >> device.sm >> device.memory_pools >> device.managed_memory >>
      device.concurrent_managed_access >> device.cooperative_launch >> device.integrated;
  if (!words) {
    return std::nullopt;
  }
  for (std::string peer; words >> peer;) {
    device.peers.push_back(peer);
  }
  return device;
}

} // namespace

std::vector<DriverAttributes> ask_driver(const std::vector<std::string>& uuids, std::string& why) {
  why.clear();
  std::vector<DriverAttributes> all;
  auto left = uuids;
  while (!left.empty()) {
    const std::size_t before = left.size();
    std::istringstream lines{ask(left)};
    for (std::string line; std::getline(lines, line);) {
      if (line.compare(0, 4, "why ") == 0) {
        why = line.substr(4);
      } else if (auto device = read_line(line)) {
        left.erase(std::remove(left.begin(), left.end(), device->uuid), left.end());
        all.push_back(std::move(*device));
      }
    }
    // CUDA shows a process one slice only: the others are asked about one by one.
    if (left.size() == before) {
      break;
    }
  }
  if (!left.empty() && why.empty()) {
    why = "the CUDA driver does not show " + left.front();
  }
  return all;
}

} // namespace gputest::devices
