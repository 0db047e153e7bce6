// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/entry_page.hpp"

#include "core/os/environment.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include <fcntl.h>

namespace gputest::os {

namespace {

using std::chrono::nanoseconds;

/// Zero at first. The tests of an entry may have been linked with another version of gputest than its watcher: its size
/// tells (SharedPages), so whatever changes the layout changes the size.
struct Words {
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
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "processes share them");

Words& words_in(const SharedPages& pages) { return *static_cast<Words*>(pages.data()); }

std::int64_t now() { return nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count(); }

/// One begins to wait. The time comes first: the watcher reads it if somebody waits.
void begin_wait(Words& words) {
  auto waiting = words.waiting.load();
  do {
    if (waiting == 0) {
      words.waiting_since = now();
    }
  } while (!words.waiting.compare_exchange_weak(waiting, waiting + 1));
}

/// `count` of those that wait do not any more.
void end_wait(Words& words, std::uint32_t count) {
  auto waiting = words.waiting.load();
  auto since = words.waiting_since.load();
  while (!words.waiting.compare_exchange_weak(waiting, waiting - std::min(waiting, count))) {
    since = words.waiting_since;
  }
  if (waiting > 0 && waiting <= count) {
    words.waited += now() - since;
  }
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

EntryPage::EntryPage() : pages_{sizeof(Words)} {}

EntryPage::EntryPage(SharedPages pages, std::string path) : pages_{std::move(pages)}, path_{std::move(path)} {}

std::shared_ptr<EntryPage> EntryPage::open(const std::string& path) noexcept try {
  auto pages = SharedPages::open(path, sizeof(Words));
  return pages ? std::shared_ptr<EntryPage>{new EntryPage{std::move(*pages), path}} : nullptr;
} catch (const std::exception&) { // no memory: the watcher misses its words, and says so
  return nullptr;
}

void EntryPage::begin() const noexcept {
  words_in(pages_).has_valgrind = has_valgrind() ? 1 : 0;
  ++words_in(pages_).begun;
}

void EntryPage::end(End how) const noexcept {
  auto& words = words_in(pages_);
  words.failed = how == End::failed ? 1 : 0;
  words.skipped += how == End::skipped ? 1 : 0;
  words.nothing_ran += how == End::nothing_ran ? 1 : 0;
  ++words.ended;
}

void EntryPage::refuse(const std::string& why) const noexcept {
  auto& words = words_in(pages_);
  if (words.refusals++ == 0) {
    copy(words.refused, why.empty() ? "it did not say why" : why);
  }
}

void EntryPage::set_running(const std::string& test) const noexcept {
  auto& words = words_in(pages_);
  const auto other = 1U - (words.running_index & 1U);
  copy(words.running[other], test);
  words.running_index = other;
}

policy::EntryReport EntryPage::report() const {
  const auto& words = words_in(pages_);
  return {words.begun,
          words.ended,
          words.skipped,
          words.nothing_ran,
          text_in(words.refused),
          text_in(words.running[words.running_index & 1U]),
          words.failed != 0};
}

nanoseconds EntryPage::waited() const noexcept {
  auto& words = words_in(pages_);
  if (const auto waiting = words.waiting.load(); waiting > 0 && !pages_.is_locked()) {
    end_wait(words, waiting); // they were killed
  }
  const auto since = words.waiting_since.load();
  return nanoseconds{words.waited + (words.waiting > 0 ? now() - since : 0)};
}

bool EntryPage::tests_have_valgrind() const noexcept { return words_in(pages_).has_valgrind != 0; }

void EntryPage::set_measured() const noexcept { words_in(pages_).measured = 1; }
bool EntryPage::is_measured() const noexcept { return words_in(pages_).measured != 0; }

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
    lock_ =
        Descriptor{::open(page_->path_.empty() ? page_->path().c_str() : page_->path_.c_str(), O_RDONLY | O_CLOEXEC)};
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    static_cast<void>(::fcntl(lock_.number(), F_OFD_SETLK, &lock));
    begin_wait(words_in(page_->pages_));
  }
}

NotCounted::~NotCounted() {
  if (page_) {
    end_wait(words_in(page_->pages_), 1);
  }
}

} // namespace gputest::os
