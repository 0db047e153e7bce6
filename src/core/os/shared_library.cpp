// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/shared_library.hpp"

#include "core/os/process.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

namespace gputest::os {

namespace {

/// No project builds such a library.
bool is_of_system(const std::string& library) {
  const auto folders = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
  return std::any_of(folders.begin(), folders.end(), [&](const char* folder) { return library.rfind(folder, 0) == 0; });
}

/// Whether this process has a file of that library, in whatever version.
bool has_file_of(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  auto stem = name.substr(0, name.find(".so") + 3);
  const auto begins_so = [](dl_phdr_info* info, std::size_t /*size*/, void* wanted) {
    std::string_view file{info->dlpi_name};
    file.remove_prefix(file.rfind('/') + 1);
    const auto& begin = *static_cast<std::string_view*>(wanted);
    return file.substr(0, begin.size()) == begin ? 1 : 0;
  };
  return dl_iterate_phdr(begins_so, &stem) != 0;
}

} // namespace

std::optional<SharedLibrary> SharedLibrary::open(const char* name, std::string& why) {
  // Local: a library opened for its own use must not lend its symbols to the tests.
  if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    return SharedLibrary{handle};
  }
  const char* message = dlerror(); // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
  why = message != nullptr ? message : "the dynamic linker gives no reason";
  return std::nullopt;
}

std::optional<SharedLibrary> SharedLibrary::if_loaded(const char* name) {
  // dlopen() searches all folders for a library that is not loaded: a tenth of what a test without CUDA takes.
  if (!has_file_of(name)) {
    return std::nullopt;
  }
  if (void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
    return SharedLibrary{handle};
  }
  return std::nullopt;
}

void SharedLibrary::Closer::operator()(void* handle) const noexcept { dlclose(handle); }

void* SharedLibrary::address_of(const char* symbol) const { return dlsym(handle_.get(), symbol); }

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> files;
  const auto add = [](dl_phdr_info* info, std::size_t /*size*/, void* all) {
    const std::string file{info->dlpi_name};
    if (!file.empty() && file.front() == '/') { // neither the executable nor what the kernel provides
      static_cast<std::vector<std::string>*>(all)->push_back(file);
    }
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

FileStates states_of_program() {
  FileStates files;
  for (const auto& library : loaded_libraries()) {
    if (!is_of_system(library)) {
      files.emplace(library, stamp_of(library));
    }
  }
  const auto executable = executable_of(own_pid()).value_or("");
  files.emplace(executable, stamp_of(executable));
  return files;
}

std::string change_of(const FileStates& files) {
  for (const auto& [path, state] : files) {
    const auto now = stamp_of(path);
    if (!(now == state) || (now && now->id != state->id)) {
      return path;
    }
  }
  return {};
}

} // namespace gputest::os
