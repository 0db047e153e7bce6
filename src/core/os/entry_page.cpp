// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/entry_page.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"

#include <gputest/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>

namespace gputest::os {

using std::chrono::nanoseconds;

/// Zero at first. The tests of an entry may have been linked with another version of gputest than its watcher: its size
/// tells, so whatever changes the layout changes the size.
struct EntryPage::Words {
  std::atomic<std::uint32_t> begun;
  std::atomic<std::uint32_t> ended;
  std::atomic<std::uint32_t> skipped;
  std::atomic<std::uint32_t> nothing_ran;
  std::atomic<std::uint32_t> failed; ///< the run that ended last
  std::atomic<std::uint32_t> refusals;
  std::atomic<std::uint32_t> measured;
  std::atomic<std::uint32_t> has_valgrind;
  std::atomic<std::uint32_t> waiting;       ///< how many wait now
  std::atomic<std::uint32_t> running_index; ///< of `running`: one is read while the other is written
  std::atomic<std::int64_t> waiting_since;  ///< on the clock since the machine's start
  std::atomic<std::int64_t> waited;         ///< up to `waiting_since`
  std::array<char, 2000> refused;
  std::array<std::array<char, 1016>, 2> running;

  static std::int64_t now() { return nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count(); }

  /// One begins to wait. The time comes first: the watcher reads it if somebody waits.
  void begin_wait() {
    auto count = waiting.load();
    do {
      if (count == 0) {
        waiting_since = now();
      }
    } while (!waiting.compare_exchange_weak(count, count + 1));
  }

  /// `ended_waits` of those that wait do not any more.
  void end_wait(std::uint32_t ended_waits) {
    auto count = waiting.load();
    auto since = waiting_since.load();
    while (!waiting.compare_exchange_weak(count, count - std::min(count, ended_waits))) {
      since = waiting_since;
    }
    if (count > 0 && count <= ended_waits) {
      waited += now() - since;
    }
  }
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "processes share them");

namespace {

Descriptor make_file(std::size_t size) {
  Descriptor file{::memfd_create("gputest-entry", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file || ::ftruncate(file.number(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    throw Error{"no memory can be made that the processes of the command share: " + reason(errno)};
  }
  return file;
}

bool is_sealed(const Descriptor& file, std::size_t size) {
  struct stat status {};
  const int seals = ::fcntl(file.number(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(file.number(), &status) == 0 &&
         status.st_size == static_cast<off_t>(size);
}

/// Whether a process has locked the file (F_OFD_SETLK): it lives.
bool is_locked(const Descriptor& file) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file.number(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

template <std::size_t size>
void copy(std::array<char, size>& to, const std::string& from) {
  const auto count = std::min(from.size(), size - 1);
  std::memcpy(to.data(), from.data(), count);
  to[count] = '\0';
}

template <std::size_t size>
std::string text_in(const std::array<char, size>& text) {
  return {text.data(), ::strnlen(text.data(), size)};
}

struct OfProcess {
  std::mutex mutex;
  std::shared_ptr<EntryPage> page;
};
OfProcess& of_process() {
  static auto& of_process = *new OfProcess; // NOLINT(cppcoreguidelines-owning-memory): used until the process ends
  return of_process;
}

} // namespace

bool has_valgrind() { return read_variable("LD_PRELOAD").value_or("").find("vgpreload") != std::string::npos; }

EntryPage::EntryPage()
    : file_{make_file(sizeof(Words))},
      path_{"/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.number())}, words_{map(file_)} {}

EntryPage::EntryPage(const Descriptor& file, std::string path) : path_{std::move(path)}, words_{map(file)} {}

EntryPage::~EntryPage() { ::munmap(words_, sizeof(Words)); }

EntryPage::Words* EntryPage::map(const Descriptor& file) {
  void* const data = ::mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) { // NOLINT(performance-no-int-to-ptr,cppcoreguidelines-pro-type-cstyle-cast): POSIX's own
    throw Error{"memory that the processes of the command share cannot be mapped: " + reason(errno)};
  }
  return static_cast<Words*>(data);
}

std::shared_ptr<EntryPage> EntryPage::open(const std::string& path) noexcept try {
  const Descriptor file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)};
  return file && is_sealed(file, sizeof(Words)) ? std::shared_ptr<EntryPage>{new EntryPage{file, path}} : nullptr;
} catch (const std::exception&) { // no memory: the watcher misses its words, and says so
  return nullptr;
}

void EntryPage::begin() const noexcept {
  words_->has_valgrind = has_valgrind() ? 1 : 0;
  ++words_->begun;
}

void EntryPage::end(End how) const noexcept {
  words_->failed = how == End::failed ? 1 : 0;
  words_->skipped += how == End::skipped ? 1 : 0;
  words_->nothing_ran += how == End::nothing_ran ? 1 : 0;
  ++words_->ended;
}

void EntryPage::refuse(const std::string& why) const noexcept {
  if (words_->refusals++ == 0) {
    copy(words_->refused, why.empty() ? "it did not say why" : why);
  }
}

void EntryPage::set_running(const std::string& test) const noexcept {
  const auto other = 1U - (words_->running_index & 1U);
  copy(words_->running[other], test);
  words_->running_index = other;
}

policy::EntryReport EntryPage::report() const {
  return {words_->begun,
          words_->ended,
          words_->skipped,
          words_->nothing_ran,
          text_in(words_->refused),
          text_in(words_->running[words_->running_index & 1U]),
          words_->failed != 0};
}

nanoseconds EntryPage::waited() const noexcept {
  if (const auto waiting = words_->waiting.load(); waiting > 0 && !is_locked(file_)) {
    words_->end_wait(waiting); // they were killed
  }
  const auto since = words_->waiting_since.load();
  return nanoseconds{words_->waited + (words_->waiting > 0 ? Words::now() - since : 0)};
}

bool EntryPage::tests_have_valgrind() const noexcept { return words_->has_valgrind != 0; }

void EntryPage::set_measured() const noexcept { words_->measured = 1; }
bool EntryPage::is_measured() const noexcept { return words_->measured != 0; }

void set_entry_page_of_process(std::shared_ptr<EntryPage> page) {
  const std::lock_guard guard{of_process().mutex};
  of_process().page = std::move(page);
}

NotCounted::NotCounted() {
  {
    const std::lock_guard guard{of_process().mutex};
    page_ = of_process().page;
  }
  if (page_) {
    // A lock before the count, and until after it, so that a count without a lock is that of a process that was killed.
    lock_ = Descriptor{::open(page_->path().c_str(), O_RDONLY | O_CLOEXEC)};
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    static_cast<void>(::fcntl(lock_.number(), F_OFD_SETLK, &lock));
    page_->words_->begin_wait();
  }
}

NotCounted::~NotCounted() {
  if (page_) {
    page_->words_->end_wait(1);
  }
}

} // namespace gputest::os
