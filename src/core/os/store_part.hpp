// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file_at.hpp"
#include "core/os/kept_descriptor.hpp"
#include "core/os/ledger_folder.hpp"
#include "core/os/slot_file.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace gputest::os {

/// What belongs to one user in a slot store: a folder with that user's slot file and the FIFOs of its slots. Nobody
/// else can write to the folder or the file.
class StorePart {
public:
  /// Where the part of `owner` in the store `name` is. A private folder has one part; in a shared one the owner's uid
  /// is in its name.
  [[nodiscard]] static FileAt place(const LedgerFolder& folder, const std::string& name, uid_t owner);

  /// Opens the folder of this user's part, and makes it if there is none. Throws LedgerError.
  [[nodiscard]] static Descriptor open_or_make_folder(const FileAt& place);

  /// Opens a part whose files are there; nothing if they are not. Throws LedgerError for anything else in their place.
  [[nodiscard]] static std::optional<StorePart> open(const FileAt& place, const Layout& layout);

  /// Makes this user's part and opens it. It is complete before anybody sees it. Under the mutex. Throws LedgerError.
  [[nodiscard]] static StorePart make(const FileAt& place, const Layout& layout);

  [[nodiscard]] uid_t owner() const { return owner_; }

  /// Of its folder.
  [[nodiscard]] const FileIdentity& identity() const { return folder_.identity(); }

  [[nodiscard]] const SlotFile& file() const { return file_; }
  [[nodiscard]] SlotFile& file() { return file_; }

  /// The FIFO that wakes a slot's owner: all members may write to it.
  [[nodiscard]] FileAt wake_fifo(std::size_t slot) const;

  /// The FIFO that shows whether a slot's owner lives: only this user may write to it.
  [[nodiscard]] FileAt liveness_fifo(std::size_t slot) const;

private:
  StorePart(const FileAt& place, Descriptor folder, SlotFile file);

  uid_t owner_;
  bool shared_;
  KeptDescriptor folder_;
  SlotFile file_;
};

} // namespace gputest::os
