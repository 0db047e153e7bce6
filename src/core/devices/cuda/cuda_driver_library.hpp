// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/devices/cuda/cuda_driver_api.hpp"
#include "core/os/shared_library.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gputest::devices::cuda {

/// The file of the CUDA driver. Every test has this code, and an executable that has the name in one piece counts as
/// one that uses a GPU (tool/command_facts). So its name is put together at run time.
[[nodiscard]] std::string driver_file();

/// The CUDA driver of this process. Its functions answer "not initialised" before cuInit() and in a forked child.
class Library {
public:
  /// The driver if something else in this process has loaded it; never loads it.
  [[nodiscard]] static std::optional<Library> if_loaded();

  /// Loads the driver and calls cuInit(), or says in `why` what keeps it from that. Costs 0.1 s and more the first
  /// time.
  [[nodiscard]] static std::optional<Library> initialised(std::string& why);

  /// Number of devices; 0 unless CUDA is initialised.
  [[nodiscard]] int device_count() const;

  /// Whether this process has a primary context on the device. Makes none.
  [[nodiscard]] bool has_primary_context(Device device) const;

  /// `CUDA_ERROR_ILLEGAL_ADDRESS (700)`.
  [[nodiscard]] std::string describe(Result result) const;

  [[nodiscard]] const Functions& functions() const { return functions_; }

private:
  Library(os::SharedLibrary file, const Functions& functions) : file_{std::move(file)}, functions_{functions} {}

  os::SharedLibrary file_; // keeps functions_ callable
  Functions functions_;
};

/// Its digits, without the `GPU-` or `MIG-` before them, which CUDA does not tell.
[[nodiscard]] std::string to_string(const Uuid& uuid);

/// That of `uuids` (`GPU-...`, `MIG-...`) which CUDA means; empty if it is none of them.
[[nodiscard]] std::string full_uuid(const std::vector<std::string>& uuids, const Uuid& uuid);

/// Makes a device's primary context the thread's current one for as long as the object lives; makes it if there is
/// none.
class PrimaryContext {
public:
  PrimaryContext(const Functions& functions, Device device);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  [[nodiscard]] Result result() const { return result_; }

  /// Waits for the context's work, if it could be made current at all.
  [[nodiscard]] Result synchronize() const { return pushed_ ? functions_.synchronize() : result_; }

private:
  const Functions& functions_;
  Device device_;
  Result result_ = success;
  bool retained_ = false;
  bool pushed_ = false;
};

} // namespace gputest::devices::cuda
