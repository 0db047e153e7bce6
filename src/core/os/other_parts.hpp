// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/ledger_folder.hpp"
#include "core/os/slot_file.hpp"
#include "core/os/store_part.hpp"

#include <cstddef>
#include <ctime>
#include <map>
#include <string>

namespace gputest::os {

/// The parts of a store in a shared folder that belong to other users. Under the store's mutex.
///
/// Each has a number, from 1 on in the order in which this process found them. A part that was removed and made anew is
/// another part: no number is used twice, so that what was kept of a slot never means another process's.
class OtherParts {
public:
  OtherParts(std::string name, const Layout& layout);

  /// Finds the users that have joined or left since the last look. Throws LedgerError for a part that is damaged, and
  /// where there are more entries or users than it looks at.
  void refresh(const LedgerFolder& folder);

  /// By number: those that are complete, and were there at the last look.
  [[nodiscard]] const std::map<std::size_t, StorePart>& all() const { return parts_; }

private:
  [[nodiscard]] bool look(const LedgerFolder& folder);

  std::string name_;
  Layout layout_;
  std::map<std::size_t, StorePart> parts_;
  std::size_t next_ = 1;
  std::timespec looked_at_{}; ///< the folder's time of change when its parts were looked for
};

} // namespace gputest::os
