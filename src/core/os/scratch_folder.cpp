// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/scratch_folder.hpp"

#include "core/os/environment.hpp"
#include "core/os/reason.hpp"

#include <gputest/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace gputest::os {

ScratchFolder::ScratchFolder() {
  path_ = os::read_variable("TMPDIR").value_or("/tmp") + "/gputest-scratch-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    throw Error{"no temporary folder can be made: " + path_ + ": " + os::reason(errno) +
                ". Set TMPDIR to a folder in which you may write"};
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace gputest::os
