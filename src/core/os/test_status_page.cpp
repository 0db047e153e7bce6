// SPDX-License-Identifier: BSD-3-Clause
#include "core/os/test_status_page.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/mutex.hpp"
#include "core/os/process.hpp"

#include <gputest/error.hpp>

#include <boost/interprocess/mapped_region.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include <sys/mman.h> // memfd_create()
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace gputest::os {

using std::chrono::nanoseconds;

/// Zero at first. The tests of an entry may have been linked with another version of gputest than its watcher: its size
/// tells, so whatever changes the layout changes the size.
struct TestStatusPage::Words {
  template <std::size_t size>
  struct Text { ///< one is read while the other is written
    std::atomic<std::uint32_t> index;
    std::array<std::array<char, size>, 2> texts;
  };

  std::atomic<std::uint32_t> begun;
  std::atomic<std::uint32_t> ended;
  std::atomic<std::uint32_t> skipped;
  std::atomic<std::uint32_t> nothing_ran;
  std::atomic<std::uint32_t> failed; ///< the process of the last run that has; 0: none has
  std::atomic<std::uint32_t> check_has_failed;
  std::atomic<std::uint32_t> failures_by_gputest;
  std::atomic<std::uint32_t> skips;
  std::atomic<std::uint32_t> measured;
  std::atomic<std::uint32_t> output_is_judged;
  std::atomic<std::uint32_t> ends_attempts;
  std::atomic<std::uint32_t> failed_before;
  std::atomic<std::uint32_t> stop_cause; ///< stored after the four below
  std::atomic<std::uint64_t> stopped_leased;
  std::atomic<std::uint64_t> stopped_taken;
  std::atomic<std::uint64_t> stopped_needed;
  std::atomic<std::uint64_t> stopped_possible;
  std::atomic<std::uint64_t> waits; ///< has_waited()
  std::atomic<std::uint64_t> exit_has_ended;
  std::array<std::atomic<std::uint32_t>, 512> in_tests; ///< processes that have begun tests and not ended them; or 0
  std::array<char, 2000> failed_by_gputest;
  std::array<char, 1904> skipped_because;
  Text<2000> not_run;
  Text<1024> running;
  Text<1024> waits_for;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free,
              "processes share them");

namespace {

using std::chrono::microseconds;

/// Beyond its deadline a process has to take back what it has said of its wait.
constexpr std::chrono::seconds for_giving_up{10};
constexpr std::chrono::hours longest_wait{24 * 365};

/// `waits` is one word, so that a process killed at any instruction leaves it true. Its low bits say how many processes
/// wait. The others are microseconds: while none waits, for how long any has; else the time at which the first began,
/// less that. So the time in which several wait counts once.
constexpr int bits_of_count = 16;
constexpr std::uint64_t count_in(std::uint64_t waits) { return waits & ((std::uint64_t{1} << bits_of_count) - 1); }
constexpr std::uint64_t time_in(std::uint64_t waits) { return waits >> bits_of_count; }
constexpr std::uint64_t at(microseconds now) { return static_cast<std::uint64_t>(now.count()); }

std::uint64_t has_waited(std::uint64_t waits, microseconds now) {
  return count_in(waits) == 0 ? time_in(waits) : at(now) - time_in(waits);
}

std::uint64_t with_count(std::uint64_t waits, std::uint64_t count, microseconds now) {
  const bool begins_or_ends = (count_in(waits) == 0) != (count == 0);
  return ((begins_or_ends ? at(now) - time_in(waits) : time_in(waits)) << bits_of_count) | count;
}

template <class Change>
void change(std::atomic<std::uint64_t>& waits, Change to) {
  for (auto now = waits.load(); !waits.compare_exchange_weak(now, to(now));) {
  }
}

Descriptor make_file(std::size_t size) {
  const WithoutFileSizeLimit counts_as_a_file{size};
  auto file = out_of_the_way(Descriptor{::memfd_create("gputest-entry", MFD_CLOEXEC | MFD_ALLOW_SEALING)});
  if (!file || ::ftruncate(file.number(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const int error = errno;
    throw Error{"no memory can be made that the processes of the command share: " + reason(error) +
                (error == EFBIG ? "; it has " + std::to_string(size) + " bytes. Raise the limit (ulimit -f)" : "")};
  }
  return file;
}

/// Also of a process that may not look at the watcher's descriptors, as another user or group, or does not see it, in
/// another pid namespace: it has inherited the page's.
Descriptor open_page(const std::string& path, int flags) {
  Descriptor file{::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK)};
  const auto number = path.find("/fd/");
  if (!file && (errno == EACCES || errno == ENOENT) && number != std::string::npos) {
    file = Descriptor{::open(("/proc/self" + path.substr(number)).c_str(), flags | O_CLOEXEC | O_NONBLOCK)};
  }
  return file;
}

bool is_sealed(const Descriptor& file, std::size_t size) {
  struct stat status {};
  const int seals = ::fcntl(file.number(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(file.number(), &status) == 0 &&
         status.st_size == static_cast<off_t>(size);
}

struct flock lock_of(short type, off_t begin, off_t end) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = end - begin;
  return lock;
}

/// Whether `goes_on` holds for any process that has locked a byte of the file there.
template <class GoesOn>
bool has_locked(const Descriptor& file, off_t begin, off_t end, GoesOn goes_on) {
  while (begin < end) {
    auto lock = lock_of(F_WRLCK, begin, end);
    if (::fcntl(file.number(), F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
      return false;
    }
    if (goes_on(lock.l_pid) || has_locked(file, begin, lock.l_start, goes_on)) {
      return true;
    }
    // The kernel makes one lock of a process's adjacent bytes.
    begin = lock.l_len == 0 ? end : lock.l_start + lock.l_len;
  }
  return false;
}

/// Whether it has not been stopped, unless its ctest was with it (Ctrl-Z).
bool goes_on(pid_t process) {
  return process <= 0 || state_of(process) != ProcessState::stopped || // 0: of another pid namespace
         state_of(::getppid()) == ProcessState::stopped;
}

/// The id of this process where its /proc was made: the watcher's, also if this one is in a pid namespace of its own.
pid_t pid_for_watcher() {
  std::array<char, 16> text{};
  const bool is_read = ::readlink("/proc/self", text.data(), text.size() - 1) > 0;
  return is_read ? static_cast<pid_t>(std::strtol(text.data(), nullptr, 10)) : own_pid();
}

/// How much later it is for this process than for those in the first time namespace.
nanoseconds clock_offset() {
  const auto offsets = contents_of("/proc/self/timens_offsets").value_or(""); // no file: no such namespaces
  const std::string clock = "monotonic";
  const auto found = offsets.find(clock);
  if (found == std::string::npos) {
    return nanoseconds{0};
  }
  char* end = nullptr;
  const std::chrono::seconds whole{std::strtoll(offsets.c_str() + found + clock.size(), &end, 10)};
  return whole + nanoseconds{std::strtoll(end, nullptr, 10)};
}

template <std::size_t size>
void copy(std::array<char, size>& to, const std::string& from) {
  const auto count = std::min(from.size(), size - 1);
  std::memcpy(to.data(), from.data(), count);
  to[count] = '\0';
}

template <class Text>
void set(Text& text, const std::string& to) {
  const auto other = 1U - (text.index & 1U);
  copy(text.texts[other], to);
  text.index = other;
}

template <std::size_t size>
std::string text_in(const std::array<char, size>& text) {
  return {text.data(), ::strnlen(text.data(), size)};
}

template <class Text>
std::string now_in(const Text& text) {
  return text_in(text.texts[text.index & 1U]);
}

struct OfProcess {
  Mutex mutex;
  std::shared_ptr<TestStatusPage> page;
  std::atomic<Output> output{Output::free};
};
OfProcess& of_process() {
  static auto& of_process = *new OfProcess; // NOLINT(cppcoreguidelines-owning-memory): used until the process ends
  return of_process;
}

} // namespace

bool has_valgrind() { return variable("LD_PRELOAD").find("vgpreload") != std::string::npos; }

TestStatusPage::TestStatusPage()
    : file_{make_file(sizeof(Words))},
      path_{"/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.number())}, words_{map(file_)} {}

TestStatusPage::TestStatusPage(const Descriptor& file, std::string path) : path_{std::move(path)}, words_{map(file)} {}

std::shared_ptr<TestStatusPage::Words> TestStatusPage::map(const Descriptor& file) try {
  namespace ipc = boost::interprocess;
  struct Open { // as ipc::file_mapping, which would open it a second time
    int number;
    [[nodiscard]] ipc::mapping_handle_t get_mapping_handle() const { return {number, false}; }
  };
  const auto region = std::make_shared<ipc::mapped_region>(Open{file.number()}, ipc::read_write, 0, sizeof(Words));
  return {region, static_cast<Words*>(region->get_address())};
} catch (const boost::interprocess::interprocess_exception& error) {
  throw Error{std::string{"memory that the processes of the command share cannot be mapped: "} + error.what()};
}

std::shared_ptr<TestStatusPage> TestStatusPage::open(const std::string& path) noexcept try {
  const auto file = open_page(path, O_RDWR);
  return file && is_sealed(file, sizeof(Words)) ? std::shared_ptr<TestStatusPage>{new TestStatusPage{file, path}}
                                                : nullptr;
} catch (const std::exception&) { // no memory: the watcher misses its words, and says so
  return nullptr;
}

void TestStatusPage::let_commands_inherit() const noexcept { ::fcntl(file_.number(), F_SETFD, 0); }

void TestStatusPage::begin() const noexcept {
  const auto self = static_cast<std::uint32_t>(pid_for_watcher());
  auto& slots = words_->in_tests;
  const auto own = std::find_if(slots.begin(), slots.end(), [&](auto& slot) {
    std::uint32_t none = 0;
    return slot.compare_exchange_strong(none, self);
  });
  slot_ = static_cast<std::size_t>(own - slots.begin());
  ++words_->begun;
}

void TestStatusPage::end(End how) const noexcept {
  if (how == End::failed) {
    fail();
  }
  words_->skipped += how == End::all_skipped ? 1 : 0;
  words_->nothing_ran += how == End::nothing_ran || how == End::listed ? 1 : 0;
  ++words_->ended;
  if (slot_ < words_->in_tests.size()) {
    words_->in_tests[slot_] = 0;
  }
}

void TestStatusPage::fail() const noexcept { words_->failed = static_cast<std::uint32_t>(::getpid()); }
void TestStatusPage::set_check_has_failed() const noexcept { words_->check_has_failed = 1; }

void TestStatusPage::fail_by_gputest(const std::string& why) const noexcept {
  if (words_->failures_by_gputest++ == 0) {
    copy(words_->failed_by_gputest, why.empty() ? "it did not say why" : why);
  }
}

void TestStatusPage::skip(const std::string& why) const noexcept {
  if (words_->skips++ == 0) {
    copy(words_->skipped_because, why);
  }
}

void TestStatusPage::set_not_run(const std::string& why) const noexcept { set(words_->not_run, why); }
void TestStatusPage::set_stopped(const policy::Stopped& stopped) const noexcept {
  words_->stopped_leased = stopped.leased.count();
  words_->stopped_taken = stopped.taken.count();
  words_->stopped_needed = stopped.needed.count();
  words_->stopped_possible = stopped.possible.count();
  words_->stop_cause = static_cast<std::uint32_t>(stopped.cause);
  if (words_->ends_attempts != 0) {
    ::kill(static_cast<pid_t>(std::strtol(path_.c_str() + std::strlen("/proc/"), nullptr, 10)), SIGCHLD); // it wakes up
    KernelClock::sleep_for(std::chrono::seconds{5}); // it looks each second, also if this process may send it no signal
  }
}
bool TestStatusPage::is_stopped() const noexcept { return words_->stop_cause != 0; }
void TestStatusPage::set_exit_has_ended() const noexcept { words_->exit_has_ended = 1; }
void TestStatusPage::set_running(const std::string& test) const noexcept { set(words_->running, test); }
void TestStatusPage::set_waits_for(const std::string& text) const noexcept { set(words_->waits_for, text); }
std::string TestStatusPage::waits_for() const { return now_in(words_->waits_for); }

policy::EntryReport TestStatusPage::report() const {
  return {words_->begun,
          words_->ended,
          words_->skipped,
          words_->nothing_ran,
          text_in(words_->failed_by_gputest),
          now_in(words_->running),
          words_->failed,
          text_in(words_->skipped_because),
          now_in(words_->not_run),
          {static_cast<policy::StopCause>(words_->stop_cause.load()), Bytes{words_->stopped_leased},
           Bytes{words_->stopped_needed}, Bytes{words_->stopped_taken}, Bytes{words_->stopped_possible}},
          words_->exit_has_ended != 0,
          words_->check_has_failed != 0};
}

std::optional<bool> TestStatusPage::is_mapped_by(pid_t process) const {
  struct stat file {};
  const auto mappings = contents_of("/proc/" + std::to_string(process) + "/maps");
  if (!mappings || ::fstat(file_.number(), &file) != 0) {
    return state_of(process) == ProcessState::ended ? std::optional{false} : std::nullopt;
  }
  std::array<char, 64> device_and_inode{};
  std::snprintf(device_and_inode.data(), device_and_inode.size(), " %02x:%02x %ju ", major(file.st_dev),
                minor(file.st_dev), static_cast<std::uintmax_t>(file.st_ino));
  return mappings->find(device_and_inode.data()) != std::string::npos;
}

bool TestStatusPage::has_lost_a_process() const {
  return std::any_of(words_->in_tests.begin(), words_->in_tests.end(), [&](const auto& slot) {
    const auto process = slot.load();
    const bool is_gone = process != 0 && !is_mapped_by(static_cast<pid_t>(process)).value_or(true);
    return is_gone && slot == process; // else its tests have ended meanwhile
  });
}

microseconds TestStatusPage::now() const noexcept {
  if (clock_offset_.load() == unread) {
    clock_offset_ = clock_offset();
  }
  return std::chrono::duration_cast<microseconds>(KernelClock::now().time_since_epoch() - clock_offset_.load());
}

nanoseconds TestStatusPage::waited() const noexcept {
  const microseconds all{static_cast<std::int64_t>(has_waited(words_->waits, now()))};
  return std::max(all - stood_still_, microseconds{0});
}

bool TestStatusPage::observe_waits() noexcept {
  constexpr auto end = std::numeric_limits<off_t>::max();
  const auto seen_at = now();
  const auto seen_before = std::exchange(observed_at_, seen_at);
  for (auto waits = words_->waits.load(); count_in(waits) != 0;) {
    seen_waiting_since_ = seen_waiting_since_.value_or(KernelClock::now());
    if (has_locked(file_, 0, end, [](pid_t) { return true; })) {
      const bool stood_still = stands_still_;
      stands_still_ = !has_locked(file_, (seen_at - for_giving_up).count(), end, goes_on);
      stood_still_ += stood_still && stands_still_ ? seen_at - seen_before : microseconds{0};
      return true;
    }
    // If none has begun or ended to wait since, those that are counted were killed.
    if (words_->waits.compare_exchange_strong(waits, with_count(waits, 0, seen_at))) {
      break;
    }
  }
  seen_waiting_since_.reset();
  stands_still_ = false;
  return false;
}

nanoseconds TestStatusPage::seen_waiting() const noexcept {
  return seen_waiting_since_ ? KernelClock::now() - *seen_waiting_since_ : nanoseconds{0};
}

void TestStatusPage::set_measured() const noexcept { words_->measured = 1; }
bool TestStatusPage::is_measured() const noexcept { return words_->measured != 0; }

void TestStatusPage::set_ends_attempts() const noexcept { words_->ends_attempts = 1; }

void TestStatusPage::set_failed_before() const noexcept { words_->failed_before = 1; }
bool TestStatusPage::has_failed_before() const noexcept { return words_->failed_before != 0; }

void TestStatusPage::set_output_is_judged() const noexcept { words_->output_is_judged = 1; }
bool TestStatusPage::output_is_judged() const noexcept { return words_->output_is_judged != 0; }

Output output_of(const policy::ReportTarget& target, const TestStatusPage* page) noexcept {
  if (!target.any()) {
    // ctest sets one of these, depending on its InteractiveDebugMode.
    const bool of_ctest = read_variable("CTEST_INTERACTIVE_DEBUG_MODE") || read_variable("DASHBOARD_TEST_FROM_CTEST");
    return of_ctest ? Output::of_ctest : Output::free;
  }
  return target.checks_output_only || (page != nullptr && page->output_is_judged()) ? Output::judged : Output::of_entry;
}

void set_output_of_process(Output output) noexcept { of_process().output = output; }
Output output_of_process() noexcept { return of_process().output; }
bool has_notes(Output output) noexcept { return output == Output::free || output == Output::of_entry; }

void set_status_page_of_process(std::shared_ptr<TestStatusPage> page) {
  const std::lock_guard guard{of_process().mutex};
  of_process().page = std::move(page);
}

std::shared_ptr<TestStatusPage> status_page_of_process() {
  const std::lock_guard guard{of_process().mutex};
  return of_process().page;
}

/// The waits of this process for one page.
struct PauseTimeLimit::Wait {
  Wait(std::shared_ptr<TestStatusPage> waiting_for, nanoseconds longest)
      : page{std::move(waiting_for)}, lock{open_page(page->path(), O_RDONLY)} {
    if (!is_sealed(lock, sizeof(TestStatusPage::Words))) { // the number of an inherited one is another file's by now
      return;
    }
    // A lock before the count, and until after it, so that a count without a lock is that of a process that was killed.
    is_counted = may_last(longest);
    if (is_counted) {
      change(page->words_->waits,
             [&](std::uint64_t waits) { return with_count(waits, count_in(waits) + 1, page->now()); });
    }
  }
  ~Wait() {
    if (pid != ::getpid()) {
      return; // it is the wait of the process that has forked this one
    }
    const std::uint64_t waited = at(std::chrono::duration_cast<microseconds>(KernelClock::now() - since));
    change(page->words_->waits, [&](std::uint64_t waits) {
      const auto count = count_in(waits);
      if (is_counted) {
        return with_count(waits, std::max<std::uint64_t>(count, 1) - 1, page->now());
      }
      return ((count == 0 ? time_in(waits) + waited : time_in(waits) - waited) << bits_of_count) | count;
    });
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  /// Locks the byte of the time at which it has to have ended, for the watcher. The lock is the process's: one of the
  /// open file (F_OFD_SETLK) would be kept by a process that it forks meanwhile.
  [[nodiscard]] bool may_last(nanoseconds longest) const {
    const auto until =
        (page->now() + std::chrono::duration_cast<microseconds>(std::min<nanoseconds>(longest, longest_wait))).count();
    auto byte = lock_of(F_RDLCK, until, until + 1);
    return ::fcntl(lock.number(), F_SETLK, &byte) == 0;
  }

  std::shared_ptr<TestStatusPage> page;
  pid_t pid = ::getpid();  ///< a forked process has a copy of this, and waits by itself
  Descriptor lock;         ///< of the page's file, by which the watcher sees that this process lives
  bool is_counted = false; ///< if not, no descriptor was left, and the watcher learns of this wait when it has ended
  KernelClock::time_point since = KernelClock::now();
};

std::weak_ptr<PauseTimeLimit::Wait>& PauseTimeLimit::of_all() {
  static auto& of_all =
      *new std::weak_ptr<Wait>; // NOLINT(cppcoreguidelines-owning-memory): used until the process ends
  return of_all;
}

/// Under the mutex. Null: none exists.
std::shared_ptr<PauseTimeLimit::Wait> PauseTimeLimit::existing(nanoseconds may_last) {
  auto wait = of_all().lock();
  if (!wait || wait->page != of_process().page || wait->pid != ::getpid()) {
    return nullptr;
  }
  static_cast<void>(wait->may_last(may_last));
  return wait;
}

PauseTimeLimit::PauseTimeLimit(nanoseconds longest) {
  const std::lock_guard guard{of_process().mutex};
  wait_ = existing(longest);
  if (!wait_ && of_process().page) {
    wait_ = std::make_shared<Wait>(of_process().page, longest);
    of_all() = wait_;
  }
}

void PauseTimeLimit::extend(nanoseconds longest) {
  const std::lock_guard guard{of_process().mutex};
  static_cast<void>(existing(longest));
}

PauseTimeLimit::~PauseTimeLimit() {
  const std::lock_guard guard{of_process().mutex}; // closing its file would take the lock of the next wait
  wait_.reset();
}

} // namespace gputest::os
