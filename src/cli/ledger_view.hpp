#pragma once

#include "ledger/ledger.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gputest::cli {

/// What the ledger says, for people who only look.
struct LedgerView {
  bool exists = false;                       ///< false: nobody has used this folder yet
  std::vector<std::string> uuids;            ///< of the ledger's devices: bit i of a mask is uuids[i]
  std::vector<std::uint64_t> overhead_bytes; ///< likewise: what one process's context takes, 0 if nobody measured it
  std::vector<ledger::Entry> entries;        ///< of processes that live, and of ended ones whose memory is not back yet
};

/// Whether anybody has used the ledger in `folder`. Makes nothing. Throws LedgerError if that cannot be seen.
[[nodiscard]] bool ledger_exists(const std::string& folder);

/// Looks at the ledger in `folder`, without making one where there is none. Throws LedgerError.
[[nodiscard]] LedgerView look_at_ledger(const std::string& folder,
                                        const std::shared_ptr<const ledger::DeviceWitness>& witness);

/// UUIDs of the devices in a mask, in the ledger's order.
[[nodiscard]] std::vector<std::string> uuids_in(const LedgerView& view, policy::DeviceMask devices);

} // namespace gputest::cli
