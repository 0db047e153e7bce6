// SPDX-License-Identifier: BSD-3-Clause
// The library that the CUDA driver loads into each process of a command which `gputest run` measures
// (CUDA_INJECTION64_PATH). It tells the launcher what the process allocates, and changes nothing else.
#include "backend/cuda/cupti_meter.hpp"
#include "settings/settings.hpp"

#include <exception>
#include <string>

/// The driver calls it in cuInit(), before the program's first call of its own. Its result is not looked at.
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  try {
    const auto launcher = gputest::settings::meter_of_launcher();
    if (!launcher.file.empty()) {
      std::string why;
      // Never destroyed: the program may free memory until its end.
      static auto* const meter = gputest::backend::open_cupti_meter(launcher.cuda_folder, launcher.file, why).release();
      static_cast<void>(meter);
    }
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): the launcher sees a process that is not measured
  }
  return 1;
}
