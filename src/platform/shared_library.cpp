// SPDX-License-Identifier: BSD-3-Clause
#include "platform/shared_library.hpp"

#include <dlfcn.h>

namespace gputest::platform {

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
  if (void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
    return SharedLibrary{handle};
  }
  return std::nullopt;
}

void SharedLibrary::Closer::operator()(void* handle) const noexcept { dlclose(handle); }

void* SharedLibrary::address_of(const char* symbol) const { return dlsym(handle_.get(), symbol); }

} // namespace gputest::platform
