// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/remembered.hpp"

#include "core/os/file.hpp"
#include "core/os/user_folder.hpp"
#include "core/policy/text.hpp"

#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::os {

namespace {

constexpr off_t large = off_t{1} << 20;    // in bytes; what is smaller is read in a millisecond
constexpr std::chrono::seconds settled{3}; // file systems' times have ticks of up to 2 s
constexpr std::uint64_t places = 4096;

/// What is the same as long as the file has the same content; nullopt if it is not large. Any write sets the time of
/// the inode, which nobody can set back.
std::optional<std::uint64_t> state_of(const std::string& path, const std::string& question,
                                      std::chrono::system_clock::time_point now) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || status.st_size < large ||
      std::chrono::system_clock::from_time_t(status.st_ctim.tv_sec) + settled > now) {
    return std::nullopt;
  }
  std::string text = question;
  for (const auto number :
       {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        static_cast<std::int64_t>(status.st_size), static_cast<std::int64_t>(status.st_mtim.tv_sec),
        static_cast<std::int64_t>(status.st_mtim.tv_nsec), static_cast<std::int64_t>(status.st_ctim.tv_sec),
        static_cast<std::int64_t>(status.st_ctim.tv_nsec)}) {
    text += " " + std::to_string(number);
  }
  return policy::fnv1a(text) | 1U;
}

/// In a folder that nobody else can open.
Descriptor open_table() {
  const auto path = user_folder();
  if (::mkdir(path.c_str(), S_IRWXU) == 0) {
    static_cast<void>(::chmod(path.c_str(), S_IRWXU)); // whatever the umask
  }
  const Descriptor folder{::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  struct stat status {};
  if (::fstat(folder.number(), &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return {};
  }
  Descriptor table{
      ::openat(folder.number(), "answers", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  static_cast<void>(::fchmod(table.number(), S_IRUSR | S_IWUSR));
  return table;
}

} // namespace

std::optional<bool> remembered(const std::string& path, const std::string& question,
                               const std::function<std::optional<bool>()>& answer,
                               std::chrono::system_clock::time_point now) {
  const auto state = state_of(path, question, now);
  if (!state) {
    return answer();
  }
  const auto place = static_cast<off_t>((*state >> 1U) % places * sizeof *state);
  const auto table = open_table();
  std::uint64_t known = 0; // a state, of which the last bit is the answer
  if (::pread(table.number(), &known, sizeof known, place) == static_cast<ssize_t>(sizeof known) &&
      (known | 1U) == *state) {
    return known == *state;
  }
  const auto said = answer();
  known = said.value_or(false) ? *state : *state - 1;
  const WithoutFileSizeLimit unlimited{places * sizeof known};
  if (said && state_of(path, question, now) == state) { // what cannot be written is asked again
    static_cast<void>(::pwrite(table.number(), &known, sizeof known, place) < 0);
  }
  return said;
}

} // namespace gputest::os
