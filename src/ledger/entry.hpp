#pragma once

#include "policy/admission.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gputest::ledger {

/// One process on the ledger.
struct Entry {
  std::size_t slot = 0;
  std::uint64_t identity = 0; ///< differs between two processes that had the same slot
  policy::Claim claim;
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
  std::string who;                             ///< the test, or the command
  std::chrono::system_clock::time_point since; ///< when it took, or began to wait for, what `claim` says
  bool alive = true; ///< false: its process has ended, and its bytes come back as soon as the device shows them free
};

/// How a process is named to those that run under its lease: `<slot>:<identity>`, in GPUTEST_LEASE_OF.
[[nodiscard]] inline std::string credential_of(const Entry& entry) {
  return std::to_string(entry.slot) + ":" + std::to_string(entry.identity);
}

/// What the ledger has to know of devices; devices/ implements it, tests imitate it.
class DeviceWitness {
public:
  virtual ~DeviceWitness() = default;

  /// What the device could ever give, and what strangers hold of it now, given everybody on the ledger.
  [[nodiscard]] virtual policy::Capacity capacity(const std::string& uuid, const std::vector<Entry>& entries,
                                                  policy::DeviceMask device) const = 0;

  /// Whether the device shows that the memory of this ended process is back.
  [[nodiscard]] virtual bool is_back(const std::string& uuid, const Entry& ended) const = 0;
};

} // namespace gputest::ledger
