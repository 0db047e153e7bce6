// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/cuda/cuda_driver_library.hpp"

#include <algorithm>
#include <utility>

namespace gputest::devices::cuda {

namespace {

constexpr const char* file_name = "libcuda.so.1";

} // namespace

std::optional<Library> Library::if_loaded() {
  auto file = os::SharedLibrary::if_loaded(file_name);
  Functions functions;
  if (!file || !functions.bind(*file)) {
    return std::nullopt;
  }
  return Library{std::move(*file), functions};
}

std::optional<Library> Library::initialised(std::string& why) {
  auto file = os::SharedLibrary::open(file_name, why);
  if (!file) {
    return std::nullopt;
  }
  Functions functions;
  if (!functions.bind(*file)) {
    why = std::string{file_name} + " lacks functions of the CUDA driver; it is too old, or a stub";
    return std::nullopt;
  }
  Library library{std::move(*file), functions};
  if (const auto result = functions.initialise(0); result != success) {
    why = "cuInit() answers " + library.describe(result);
    return std::nullopt;
  }
  return library;
}

int Library::device_count() const {
  int count = 0;
  return functions_.device_count(&count) == success ? count : 0;
}

bool Library::has_primary_context(Device device) const {
  unsigned flags = 0;
  int active = 0;
  return functions_.primary_state(device, &flags, &active) == success && active != 0;
}

std::string Library::describe(Result result) const {
  const char* name = nullptr;
  if (functions_.error_name(result, &name) != success || name == nullptr) {
    name = "CUDA error";
  }
  return std::string{name} + " (" + std::to_string(result) + ")";
}

std::string to_string(const Uuid& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string bare;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    bare += i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    bare += digits[uuid.at(i) >> 4U];
    bare += digits[uuid.at(i) & 15U];
  }
  return bare;
}

std::string full_uuid(const std::vector<std::string>& uuids, const Uuid& uuid) {
  const auto bare = to_string(uuid);
  const auto found = std::find_if(uuids.begin(), uuids.end(), [&](const std::string& full) {
    return full.size() > bare.size() && full.compare(full.size() - bare.size(), bare.size(), bare) == 0;
  });
  return found == uuids.end() ? "" : *found;
}

PrimaryContext::PrimaryContext(const Functions& functions, Device device) : functions_{functions}, device_{device} {
  Context context = nullptr;
  result_ = functions_.primary_retain(&context, device_);
  retained_ = result_ == success;
  if (retained_) {
    result_ = functions_.push_context(context);
    pushed_ = result_ == success;
  }
}

PrimaryContext::~PrimaryContext() {
  if (pushed_) {
    Context popped = nullptr;
    functions_.pop_context(&popped);
  }
  if (retained_) {
    functions_.primary_release(device_);
  }
}

} // namespace gputest::devices::cuda
