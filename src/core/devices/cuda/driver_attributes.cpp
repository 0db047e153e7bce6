// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/driver_attributes.hpp"

#include "core/devices/cuda/cuda_driver.hpp"
#include "core/devices/cuda/cuda_driver_library.hpp"
#include "core/devices/cuda/driver_attributes_api.hpp"
#include "core/os/environment.hpp"
#include "core/os/program_output.hpp"
#include "core/os/shared_library.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

namespace gputest::devices {

namespace {

constexpr const char* driver_library = "libcuda.so.1";

/// Longer than the driver takes for the 16 GPUs of the largest machine; what has not answered by then is stuck.
constexpr std::chrono::seconds longest_answer{30};

/// The driver's answer on its way through the pipe: `why <text>`, or a line of words for each device.
using Text = std::string;

/// The driver, asked in this process.
class Driver {
public:
  explicit Driver(const cuda::AttributeFunctions& functions) : functions_{functions} {}

  [[nodiscard]] Text answer(const std::vector<std::string>& uuids) const {
    int count = 0;
    if (const int result = functions_.device_count(&count); result != 0) {
      return problem("cuDeviceGetCount", result);
    }
    std::vector<std::pair<int, std::string>> asked;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      int device = 0;
      cuda::Uuid uuid{};
      if (functions_.device(&device, ordinal) == 0 && functions_.uuid(&uuid, device) == 0) {
        if (auto full = cuda::full_uuid(uuids, uuid); !full.empty()) {
          asked.emplace_back(device, std::move(full));
        }
      }
    }
    std::ostringstream text;
    for (const auto& [device, uuid] : asked) {
      text << uuid << ' '
           << value(cuda::compute_capability_major, device) * 10 + value(cuda::compute_capability_minor, device);
      for (const int attribute : {cuda::has_memory_pools, cuda::has_managed_memory, cuda::concurrent_managed_access,
                                  cuda::cooperative_launch, cuda::integrated, cuda::tcc_driver}) {
        text << ' ' << (value(attribute, device) != 0 ? 1 : 0);
      }
      for (const auto& [peer, uuid_of_peer] : asked) {
        int can = 0;
        if (peer != device && functions_.can_access_peer(&can, device, peer) == 0 && can != 0) {
          text << ' ' << uuid_of_peer;
        }
      }
      text << '\n';
    }
    return text.str();
  }

  [[nodiscard]] Text initialise_and_answer(const std::vector<std::string>& uuids) const {
    if (const int result = functions_.initialise(0); result != 0) {
      return problem("cuInit", result);
    }
    return answer(uuids);
  }

private:
  /// An attribute that an older driver does not know is one that its devices do not have.
  [[nodiscard]] int value(int attribute, int device) const {
    int value = 0;
    return functions_.attribute(&value, attribute, device) == 0 ? value : 0;
  }

  [[nodiscard]] Text problem(const std::string& call, int result) const {
    const char* name = nullptr;
    functions_.error_name(result, &name);
    return "why " + call + " answers " + (name != nullptr ? name : "CUDA error") + " (" + std::to_string(result) + ")";
  }

  cuda::AttributeFunctions functions_;
};

/// Opens the driver and asks it, in a process of which nothing else is wanted.
Text answer_of_child(const std::vector<std::string>& uuids) {
  std::string visible;
  for (const auto& uuid : uuids) {
    visible += (visible.empty() ? "" : ",") + uuid;
  }
  os::set_variable("CUDA_VISIBLE_DEVICES", visible);
  std::string why;
  const auto library = os::SharedLibrary::open(driver_library, why);
  if (!library) {
    return "why " + std::string{driver_library} + " cannot be opened (" + why + ")";
  }
  cuda::AttributeFunctions functions;
  if (!functions.bind(*library)) {
    return "why " + std::string{driver_library} + " is too old to be asked";
  }
  return Driver{functions}.initialise_and_answer(uuids);
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
  const auto library = os::SharedLibrary::if_loaded(driver_library);
  cuda::AttributeFunctions functions;
  if (!library || !functions.bind(*library)) {
    return "why " + std::string{driver_library} + " is too old to be asked";
  }
  return Driver{functions}.answer(uuids);
}

std::optional<DriverAttributes> read_line(const std::string& line) {
  std::istringstream words{line};
  DriverAttributes device;
  words >> device.uuid >> device.sm >> device.memory_pools >> device.managed_memory >>
      device.concurrent_managed_access >> device.cooperative_launch >> device.integrated >> device.tcc;
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
