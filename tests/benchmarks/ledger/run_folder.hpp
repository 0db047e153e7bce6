// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <string>

namespace gputest::benchmarks {

/// A fresh folder below /dev/shm for one run. A process of its own removes it when the run has ended, however it ends.
class RunFolder {
public:
  RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  /// Blocks until it is removed.
  ~RunFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
  int lifeline_ = -1; ///< the remover sees it close
  pid_t remover_ = -1;
};

} // namespace gputest::benchmarks
