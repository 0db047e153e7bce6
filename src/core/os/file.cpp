// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/file.hpp"

#include "core/os/kernel_clock.hpp"
#include "core/policy/text.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::os {

namespace {

std::string advice(int error_number) {
  switch (error_number) {
  case EMFILE: {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return " (this process has all " + std::to_string(limit.rlim_cur) +
           " open that it may have; close some, or raise the limit: ulimit -n)";
  }
  case ENFILE:
    return " (the machine has no file descriptor left for anybody: /proc/sys/fs/file-nr)";
  case ENOSPC:
    return " (df and df -i show what is full)";
  case EDQUOT:
    return " (quota shows what is full)";
  default:
    return "";
  }
}

/// What is left to read. A record ends with a block that is not full.
std::optional<std::string> read_blocks(int descriptor, bool is_record) {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const auto count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno != EINTR) {
      return std::nullopt;
    }
    text.append(block.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0 || (is_record && count > 0 && count < static_cast<ssize_t>(block.size()))) {
      return text;
    }
  }
}

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error{"cannot be written to " + path + ": " + why};
}

} // namespace

Descriptor out_of_the_way(Descriptor file) noexcept {
  constexpr int beyond_what_others_choose = 700;
  Descriptor high{file ? ::fcntl(file.number(), F_DUPFD_CLOEXEC, beyond_what_others_choose) : -1};
  return high ? std::move(high) : std::move(file);
}

void make_room_out_of_the_way() noexcept {
  const auto any = out_of_the_way(Descriptor{::open("/", O_PATH | O_CLOEXEC)});
}

std::string reason(int error_number) { return std::generic_category().message(error_number) + advice(error_number); }

LedgerError failure(const std::string& to_do, const std::string& path, int error_number) {
  return LedgerError{"cannot " + to_do + " " + path + ": " + reason(error_number)};
}

std::optional<std::string> read_to_end(int descriptor) { return read_blocks(descriptor, false); }

std::optional<std::string> contents_of(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  return file ? read_to_end(file.number()) : std::nullopt;
}

std::optional<std::string> record_of_proc(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  return read_blocks(file.number(), true);
}

namespace {

/// Adds those of the texts that are in `part`, all in one pass: libraries have hundreds of MB. Of each three bytes it
/// looks at one, and at others if that is one of the first three of a text.
void find_texts(std::string_view part, const std::set<std::string>& texts, std::set<std::string>& found) {
  constexpr std::size_t step = 3;
  std::array<unsigned char, 256> places{}; // of a byte: bit i if it is at i in a text
  for (const auto& text : texts) {
    for (std::size_t i = 0; i < step; ++i) {
      places[static_cast<unsigned char>(text[i])] |= static_cast<unsigned char>(1U << i);
    }
  }
  const auto is_at = [&](std::size_t position, std::size_t place) {
    return position < part.size() && (places[static_cast<unsigned char>(part[position])] >> place & 1U) != 0;
  };
  for (std::size_t position = 0; position < part.size(); position += step) {
    for (std::size_t place = 0; place < step && places[static_cast<unsigned char>(part[position])] != 0; ++place) {
      const std::size_t begin = position - place;
      if (position >= place && is_at(begin, 0) && is_at(begin + 1, 1) && is_at(begin + 2, 2)) {
        std::copy_if(texts.begin(), texts.end(), std::inserter(found, found.end()),
                     [&](const std::string& text) { return policy::starts_with(part.substr(begin), text); });
      }
    }
  }
}

} // namespace

std::optional<std::set<std::string>> texts_in(const std::string& path, const std::set<std::string>& texts,
                                              bool any_will_do) {
  // Pieces are faster than one read() of the whole file, whose memory costs a page fault every 4 KiB. Not mmap(): a
  // file that is shortened meanwhile would be a SIGBUS.
  constexpr std::size_t piece = std::size_t{256} << 10U;
  std::size_t longest = 1;
  for (const auto& text : texts) {
    longest = std::max(longest, text.size());
  }
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) { // such as a FIFO, which may have no end
    return std::nullopt;
  }
  std::set<std::string> found;
  std::string bytes(longest - 1 + piece, '\0');
  std::size_t kept = 0; // of the piece before: a text may be on both sides of the border
  for (;;) {
    const auto count = ::read(file.number(), &bytes[kept], piece);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return count == 0 ? std::optional{found} : std::nullopt;
    }
    const std::string_view part{bytes.data(), kept + static_cast<std::size_t>(count)};
    find_texts(part, texts, found);
    if (any_will_do && !found.empty()) {
      return found;
    }
    kept = std::min(longest - 1, part.size());
    std::copy(part.end() - static_cast<std::ptrdiff_t>(kept), part.end(), bytes.begin());
  }
}

void write_if_ready(const Descriptor& file, const std::string& text) noexcept {
  pollfd ready{file.number(), POLLOUT, 0};
  KernelClock::duration no_time{0};
  if (KernelClock::poll(&ready, 1, no_time) <= 0) {
    return;
  }
  sigset_t raised{};
  sigset_t before{};
  ::sigemptyset(&raised);
  for (const int signal : {SIGPIPE, SIGTTOU, SIGXFSZ}) {
    ::sigaddset(&raised, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &raised, &before);
  static_cast<void>(::write(file.number(), text.data(), text.size()) < 0);
  const timespec at_once{};
  while (::sigtimedwait(&raised, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::error_code make_folders(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return {};
  }
  const fs::path parent = fs::path{path}.parent_path();
  if (!parent.empty() && parent != path && (error = make_folders(parent))) {
    return error;
  }
  constexpr mode_t all = S_IRWXU | S_IRWXG | S_IRWXO;
  if (::mkdir(path.c_str(), all) == 0) {
    fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, error);
    return error;
  }
  const int why = errno == EEXIST ? ENOTDIR : errno;
  return fs::is_directory(path, error) ? std::error_code{} : std::error_code{why, std::generic_category()};
}

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct statx file {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &file) != 0) {
    return std::nullopt;
  }
  const auto nanoseconds = [](const statx_timestamp& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  const auto birth = (file.stx_mask & STATX_BTIME) != 0 ? nanoseconds(file.stx_btime) : 0;
  return FileStamp{file.stx_size, nanoseconds(file.stx_mtime), file.stx_ino ^ (birth << 8U)};
}

std::optional<std::uint64_t> executable_identity() {
  const auto file = stamp_of("/proc/self/exe");
  if (!file) {
    return std::nullopt;
  }
  const auto text = std::to_string(file->id) + " " + std::to_string(file->bytes) + " " + std::to_string(file->modified);
  return std::max<std::uint64_t>(policy::fnv1a(text), 1);
}

WithoutFileSizeLimit::WithoutFileSizeLimit(std::uint64_t end) noexcept {
  static Mutex one_thread;
  alone_ = std::unique_lock{one_thread, std::try_to_lock}; // if this fails, another thread has lifted the process's
                                                           // limit, and may restore it before this one writes
  has_limit_ = !alone_ || (::getrlimit(RLIMIT_FSIZE, &limit_) == 0 && limit_.rlim_cur != RLIM_INFINITY);
  if (alone_ && (!has_limit_ || limit_.rlim_cur >= end)) {
    alone_.unlock();
  }
  if (has_limit_) {
    sigset_t beyond{};
    ::sigemptyset(&beyond);
    ::sigaddset(&beyond, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &beyond, &mask_);
    if (alone_) {
      const rlimit highest{limit_.rlim_max, limit_.rlim_max};
      ::setrlimit(RLIMIT_FSIZE, &highest);
    }
  }
}

WithoutFileSizeLimit::~WithoutFileSizeLimit() {
  if (has_limit_) {
    const int error = errno; // of the write
    sigset_t beyond{};
    ::sigemptyset(&beyond);
    ::sigaddset(&beyond, SIGXFSZ);
    const timespec at_once{};
    if (::sigismember(&mask_, SIGXFSZ) == 0) {
      static_cast<void>(::sigtimedwait(&beyond, nullptr, &at_once));
    }
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    if (alone_) {
      ::setrlimit(RLIMIT_FSIZE, &limit_);
    }
    errno = error;
  }
}

bool LineFile::create() const {
  if (const auto error = make_folders(folder_)) {
    fail(folder_, error.message());
  }
  constexpr mode_t only_own = S_IRUSR | S_IWUSR;
  const Descriptor file{
      ::open(path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, only_own)};
  if (!file && errno != EEXIST) {
    fail(path(), reason(errno));
  }
  if (file) {
    static_cast<void>(::fchmod(file.number(), only_own)); // a umask may take off what the run's other processes need
  }
  return static_cast<bool>(file);
}

void LineFile::append(const std::string& line) const {
  const Descriptor file{::open(path().c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!file) {
    fail(path(), reason(errno));
  }
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) {
    fail(path(), reason(errno));
  }
  if ((status.st_mode & S_IFMT) != S_IFREG || status.st_uid != user_ || status.st_nlink > 1) {
    fail(path(), "it is no regular file of this user's with one name");
  }
  // A kill can cut another process's line where a page of the file ends, at any moment before this write.
  const auto text = "\n" + line + "\n";
  constexpr std::uint64_t of_others = 1U << 16U; // that they write meanwhile
  const WithoutFileSizeLimit unlimited{static_cast<std::uint64_t>(status.st_size) + text.size() + of_others};
  const auto written = ::write(file.number(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) {
    fail(path(), written < 0 ? reason(errno) : "there is no room for a whole line");
  }
}

void LineFile::remove_older(const std::string& prefix, const std::string& suffix, std::size_t keep) const noexcept {
  try {
    using Seen = std::pair<fs::file_time_type, fs::path>;
    std::vector<Seen> files;
    for (const auto& entry : fs::directory_iterator{folder_}) {
      const auto name = entry.path().filename().string();
      const bool fits = name.size() > prefix.size() + suffix.size() && name.compare(0, prefix.size(), prefix) == 0 &&
                        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
      if (fits && name != name_ && entry.symlink_status().type() == fs::file_type::regular) {
        files.emplace_back(entry.last_write_time(), entry.path());
      }
    }
    std::sort(files.begin(), files.end(), [](const Seen& a, const Seen& b) { return a > b; });
    for (std::size_t i = keep == 0 ? 0 : keep - 1; i < files.size(); ++i) { // this file is one of those to keep
      std::error_code another_process_has_done_it;
      fs::remove(files[i].second, another_process_has_done_it);
    }
  } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): old files stay
  }
}

} // namespace gputest::os
