// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/descriptor.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace gputest::os {

/// Memory without a name that a process shares with its descendants, mapped for reading and writing. Zero at first.
///
/// They reach it through the /proc of the process that made it, so it costs them no open descriptor. Its size is
/// sealed: no process can make another one's access fail.
class SharedPages {
public:
  /// Makes `size` bytes. Throws Error if there can be none.
  explicit SharedPages(std::size_t size);

  /// The memory that another process made under `path`; nullopt if there is none of this size, or it ends.
  [[nodiscard]] static std::optional<SharedPages> open(const std::string& path, std::size_t size);

  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&&) = delete;
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  ~SharedPages();

  [[nodiscard]] void* data() const { return data_; }

  /// Whether a process has locked the file under path() (F_OFD_SETLK): it lives. Only for the maker.
  [[nodiscard]] bool is_locked() const;

  /// Under which descendants of the maker, and processes of its user, can open it as long as the maker is alive.
  [[nodiscard]] std::string path() const;

private:
  SharedPages(Descriptor file, std::size_t size);

  Descriptor file_;
  std::size_t size_;
  void* data_ = nullptr;
};

} // namespace gputest::os
