// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "platform/shared_pages.hpp"

#include <gputest/bytes.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gputest::backend {

struct SharedTree; ///< what the processes share

/// The digits of a UUID, without the `GPU-` or `MIG-` before them, which CUDA does not tell.
[[nodiscard]] std::string uuid_digits(const std::string& uuid);

/// What a command and all processes that it starts have allocated of each device, together and at one time.
///
/// The launcher makes one, and hands down its path (GPUTEST_METER_FILE). Each process of the command that is metered
/// joins (TreeMember). What a process had is forgotten when it has ended and the next one joins, or forget_dead() is
/// called.
class TreeUsage {
public:
  struct Peak {
    std::string uuid; ///< its uuid_digits()
    Bytes bytes;
  };

  /// Throws Error.
  TreeUsage();

  [[nodiscard]] std::string path() const { return pages_.path(); }

  /// The most at one time, of each device of which anything was allocated.
  [[nodiscard]] std::vector<Peak> peaks() const;

  /// Processes that are, or were, metered.
  [[nodiscard]] std::vector<std::int64_t> members() const;

  /// Why a process could not be metered; empty if all that joined could.
  [[nodiscard]] std::string why_not_exact() const;

  /// What ended processes had no longer counts.
  void forget_dead();

private:
  platform::SharedPages pages_;
  SharedTree* tree_;
};

/// This process in the TreeUsage of the launcher above. Thread-safe. A forked child is no member.
class TreeMember {
public:
  /// Null if there is none under this path, or this program has joined already. What this process had before an exec()
  /// no longer counts.
  [[nodiscard]] static std::unique_ptr<TreeMember> join(const std::string& path);

  /// Whether this program of this process has joined.
  [[nodiscard]] static bool has_joined(const std::string& path);

  /// Leaves: what it has no longer counts.
  ~TreeMember();
  TreeMember(const TreeMember&) = delete;
  TreeMember& operator=(const TreeMember&) = delete;

  /// What this process has allocated of a device now.
  void allocated(const std::string& uuid, std::uint64_t bytes) noexcept;

  /// Says that what this process allocates is not known.
  void cannot_be_metered(const std::string& why) noexcept;

private:
  TreeMember(platform::SharedPages pages, std::size_t slot);
  [[nodiscard]] bool is_own() const;

  platform::SharedPages pages_;
  SharedTree* tree_;
  std::size_t slot_;
};

} // namespace gputest::backend
