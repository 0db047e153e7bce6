// SPDX-License-Identifier: BSD-3-Clause
#include "platform/report_file.hpp"

#include "platform/reason.hpp"

#include <gputest/error.hpp>

#include <array>
#include <cerrno>
#include <exception>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gputest::platform {

ReportFile::ReportFile() : file_{::memfd_create("gputest-report", MFD_CLOEXEC)} {
  if (!file_) {
    throw Error{"no file can be made for what the tests of the command report: " + reason(errno)};
  }
}

std::string ReportFile::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.number());
}

std::string ReportFile::contents() const {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const auto count = ::pread(file_.number(), block.data(), block.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return text;
    }
    text.append(block.data(), static_cast<std::size_t>(count));
  }
}

void append_line(const std::string& path, const std::string& line) noexcept {
  try {
    const Descriptor file{::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK)};
    const auto text = line + "\n";
    static_cast<void>(!file || ::write(file.number(), text.data(), text.size()) < 0);
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): no memory; the launcher misses the line
  }
}

} // namespace gputest::platform
