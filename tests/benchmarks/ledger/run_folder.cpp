// SPDX-License-Identifier: BSD-3-Clause
#include "run_folder.hpp"

#include "failure.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace gputest::benchmarks {

namespace fs = std::filesystem;

namespace {

void remove_all_of(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  // Named semaphores cannot lie in a folder.
  const std::string semaphores = "sem." + folder.filename().string();
  for (const auto& entry : fs::directory_iterator{folder.parent_path(), ignored}) {
    if (entry.path().filename().string().rfind(semaphores, 0) == 0) {
      fs::remove(entry.path(), ignored);
    }
  }
}

} // namespace

RunFolder::RunFolder() : path_{"/dev/shm/gputest-benchmark-XXXXXX"} {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw failure("make a folder in /dev/shm");
  }
  std::array<int, 2> ends{};
  must(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
  remover_ = must(::fork(), "fork");
  if (remover_ == 0) {
    ::setsid(); // the terminal's Ctrl-C must not end it too
    ::close(ends[1]);
    char nothing = 0;
    // Ends when the run's last process has: nobody can make anything in the folder after that.
    while (::read(ends[0], &nothing, 1) < 0 && errno == EINTR) {
    }
    remove_all_of(path_);
    ::_exit(0);
  }
  ::close(ends[0]);
  lifeline_ = ends[1];
}

RunFolder::~RunFolder() {
  ::close(lifeline_);
  ::waitpid(remover_, nullptr, 0);
}

} // namespace gputest::benchmarks
