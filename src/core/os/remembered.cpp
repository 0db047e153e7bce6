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

constexpr off_t large = off_t{1} << 20; // in bytes; what is smaller is read in a millisecond
constexpr std::uint64_t places = 4096;

/// The same as long as the file has the same content: a write changes the time of its inode, which nobody can set.
std::uint64_t state_of(const struct stat& status, const std::string& question) {
  std::string text = question;
  for (const auto number :
       {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        static_cast<std::int64_t>(status.st_size), static_cast<std::int64_t>(status.st_mtim.tv_sec),
        static_cast<std::int64_t>(status.st_mtim.tv_nsec), static_cast<std::int64_t>(status.st_ctim.tv_sec),
        static_cast<std::int64_t>(status.st_ctim.tv_nsec)}) {
    text += " " + std::to_string(number);
  }
  return policy::fnv1a(text);
}

Descriptor open_table() {
  const auto folder = user_folder();
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) {
    static_cast<void>(::chmod(folder.c_str(), S_IRWXU)); // whatever the umask
  }
  return Descriptor{
      ::open((folder + "/answers").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR)};
}

} // namespace

bool remembered(const std::string& path, const std::string& question, const std::function<bool()>& answer) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || status.st_size < large) {
    return answer();
  }
  const std::uint64_t state = state_of(status, question) | 1U;
  const auto place = static_cast<off_t>((state >> 1U) % places * sizeof state);
  const auto table = open_table();
  std::uint64_t known = 0; // a state, of which the last bit is the answer
  if (::pread(table.number(), &known, sizeof known, place) == static_cast<ssize_t>(sizeof known) &&
      (known | 1U) == state) {
    return known == state;
  }
  const bool said = answer();
  known = said ? state : state - 1;
  const WithoutFileSizeLimit unlimited{places * sizeof known};
  if (table && ::pwrite(table.number(), &known, sizeof known, place) < 0) {
    return said; // and it is asked again
  }
  return said;
}

} // namespace gputest::os
