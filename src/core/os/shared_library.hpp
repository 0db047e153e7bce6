// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/os/file.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputest::os {

/// A shared library opened at run time; closed again when the object ends.
class SharedLibrary {
public:
  /// Opens the library with the dynamic linker's usual search, or puts the linker's own words into `why`.
  [[nodiscard]] static std::optional<SharedLibrary> open(const char* name, std::string& why);

  /// The library if something else in this process has loaded it; never loads it.
  [[nodiscard]] static std::optional<SharedLibrary> if_loaded(const char* name);

  /// Points `function` at a symbol, or at nothing if the library has none of that name; whether it was found.
  template <typename Function>
  bool bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
    return function != nullptr;
  }

private:
  struct Closer {
    void operator()(void* handle) const noexcept;
  };

  explicit SharedLibrary(void* handle) : handle_{handle} {}
  [[nodiscard]] void* address_of(const char* symbol) const;

  std::unique_ptr<void, Closer> handle_;
};

/// The files of the shared libraries that this process has loaded, by the paths by which they were found.
[[nodiscard]] std::vector<std::string> loaded_libraries();
using FileStates = std::map<std::string, std::optional<FileStamp>>;

/// Those of this process's executable and of the shared libraries that it has loaded, but for those below the system's
/// lib and lib64, which no project builds.
[[nodiscard]] FileStates states_of_program();

/// The first of the files that is another one now, or has been changed; empty if none is.
[[nodiscard]] std::string change_of(const FileStates& files);

} // namespace gputest::os
