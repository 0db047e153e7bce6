#include "system/driver_attributes.hpp"

#include "system/cuda_driver.hpp"
#include "system/descriptor.hpp"
#include "system/driver_attributes_api.hpp"
#include "system/environment.hpp"
#include "system/shared_library.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <sstream>

namespace gputest::system {

namespace {

using std::chrono::steady_clock;

constexpr const char* library_name = "libcuda.so.1";

/// Longer than the driver takes for the 16 GPUs of the largest machine; what has not answered by then is stuck.
constexpr std::chrono::seconds longest_answer{30};

/// The driver's answer on its way through the pipe: `why <text>`, or a line of words for each device.
using Text = std::string;

/// The UUID as text, without the `GPU-` or `MIG-` before it, which CUDA does not tell.
std::string text_of(const cuda::Uuid& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    text += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    text += digits[uuid.at(i) >> 4U];
    text += digits[uuid.at(i) & 15U];
  }
  return text;
}

/// That of `uuids` that CUDA calls `bare`; empty if it is none of them.
std::string full_uuid(const std::vector<std::string>& uuids, const std::string& bare) {
  const auto found = std::find_if(uuids.begin(), uuids.end(), [&](const std::string& uuid) {
    return uuid.size() > bare.size() && uuid.compare(uuid.size() - bare.size(), bare.size(), bare) == 0;
  });
  return found == uuids.end() ? "" : *found;
}

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
        if (auto full = full_uuid(uuids, text_of(uuid)); !full.empty()) {
          asked.emplace_back(device, std::move(full));
        }
      }
    }
    std::ostringstream text;
    for (const auto& [device, uuid] : asked) {
      text << uuid << ' '
           << value(cuda::compute_capability_major, device) * 10 + value(cuda::compute_capability_minor, device);
      for (const int attribute : {cuda::memory_pools_supported, cuda::managed_memory, cuda::concurrent_managed_access,
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
  set_variable("CUDA_VISIBLE_DEVICES", visible);
  std::string why;
  const auto library = SharedLibrary::open(library_name, why);
  if (!library) {
    return "why " + std::string{library_name} + " cannot be opened (" + why + ")";
  }
  cuda::AttributeFunctions functions;
  if (!functions.bind(*library)) {
    return "why " + std::string{library_name} + " is too old to be asked";
  }
  return Driver{functions}.initialise_and_answer(uuids);
}

[[noreturn]] void be_the_child(int out, const std::vector<std::string>& uuids) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // it holds copies of its parent's bells, and must not outlive it
  Text text;
  try {
    text = answer_of_child(uuids);
  } catch (const std::exception& error) {
    text = std::string{"why "} + error.what();
  }
  for (std::size_t written = 0; written < text.size();) {
    const auto now = ::write(out, text.data() + written, text.size() - written);
    if (now <= 0) {
      break;
    }
    written += static_cast<std::size_t>(now);
  }
  ::_exit(0); // no destructor or handler of the parent's may run here
}

/// All that comes out of the pipe; nullopt if it does not end in time.
std::optional<Text> read_all(int in) {
  const auto end = steady_clock::now() + longest_answer;
  Text text;
  std::array<char, 4096> block{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    pollfd file{in, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&file, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) {
      continue;
    }
    if (ready <= 0) {
      return std::nullopt;
    }
    const auto size = ::read(in, block.data(), block.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return text;
    }
    text.append(block.data(), static_cast<std::size_t>(size));
  }
}

Text ask_in_child(const std::vector<std::string>& uuids) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return "why no pipe can be made";
  }
  const Descriptor in{ends[0]};
  Descriptor out{ends[1]};
  const pid_t child = ::fork();
  if (child < 0) {
    return "why no process can be forked";
  }
  if (child == 0) {
    be_the_child(out.number(), uuids);
  }
  out = Descriptor{};
  const auto text = read_all(in.number());
  if (!text) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!text) {
    return "why the CUDA driver did not answer within " + std::to_string(longest_answer.count()) + " s";
  }
  return text->empty() && WIFSIGNALED(status) ? "why the CUDA driver crashed" : *text;
}

Text ask(const std::vector<std::string>& uuids) {
  if (!cuda_is_initialised()) {
    return ask_in_child(uuids);
  }
  const auto library = SharedLibrary::if_loaded(library_name);
  cuda::AttributeFunctions functions;
  if (!library || !functions.bind(*library)) {
    return "why " + std::string{library_name} + " is too old to be asked";
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

} // namespace gputest::system
