// SPDX-License-Identifier: BSD-3-Clause
#include "workers/meeting_place.hpp"

#include "core/os/environment.hpp"
#include "core/os/file.hpp"
#include "core/os/process.hpp"
#include "core/os/user_folder.hpp"
#include "core/policy/text.hpp"
#include "supervise/events.hpp"
#include "supervise/orphan.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gputest::workers {

namespace {

using namespace supervise; // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

constexpr off_t most_pids = off_t{1} << 22; ///< PID_MAX_LIMIT of the kernel

uid_t own_user() {
  static const auto user = static_cast<uid_t>(::getauxval(AT_EUID)); // no system call: it changes no user
  return user;
}

/// The end of the names of all runs that this process can judge: those of its pid namespace, and of its time namespace,
/// in which /proc tells when a process was started.
std::string name_of_namespace() {
  constexpr ino_t usual_times = 0xEFFFFFFA; // PROC_TIME_INIT_INO of the kernel
  struct stat pids {};
  struct stat times {};
  ::stat("/proc/self/ns/pid", &pids);
  const bool has_usual = ::stat("/proc/self/ns/time", &times) != 0 || times.st_ino == usual_times;
  return "-" + std::to_string(pids.st_ino) + (has_usual ? "" : "." + std::to_string(times.st_ino));
}

/// Whether that is known: what cannot be read has not ended.
bool has_ended(const std::string& run_name) {
  const auto space = name_of_namespace();
  const auto pid = static_cast<pid_t>(std::strtol(run_name.c_str(), nullptr, 10));
  if (pid <= 0 || run_name.size() <= space.size() ||
      run_name.compare(run_name.size() - space.size(), space.size(), space) != 0) {
    return false;
  }
  const auto start = os::start_time_of(pid);
  return start ? run_name != std::to_string(pid) + "-" + std::to_string(*start) + space
               : ::kill(pid, 0) != 0 && errno == ESRCH;
}

/// By which this process reaches a folder, however long its own path is.
std::string path_of(const Descriptor& folder) { return "/proc/self/fd/" + std::to_string(folder.number()); }

/// Removes the folder of a run with all that is in it.
void remove_run(const Descriptor& workers, const std::string& run_name) {
  constexpr int most_tries = 100; // processes that end now may add a file
  std::error_code error;
  for (int i = 0; i < most_tries && (i == 0 || error); ++i) {
    fs::remove_all(path_of(workers) + "/" + run_name, error);
  }
}

/// Removes what was left behind by a run that the machine did not outlive.
void remove_leftovers(const Descriptor& workers) {
  for (const auto& name : names_in(workers)) {
    if (has_ended(name)) {
      remove_run(workers, name);
    }
  }
}

/// Leaves a process behind that removes the folder of the run when ctest has ended, however it does.
void remove_at_its_end(const MeetingPlace& place, const Descriptor& workers) {
  if (become_an_orphan({place.ctest.number(), workers.number()}) != Orphaning::in_orphan) {
    return;
  }
  static_cast<void>(::chdir("/") != 0);
  if (Events{}.add(place.ctest).wait(for_ever)) {
    const auto all = open_folder(workers.number(), place.run_name);
    for (const auto& worker_key : names_in(all)) {
      for (const auto supervisor : present_in(open_folder(all.number(), worker_key), "processes")) {
        ::kill(supervisor, SIGCONT); // a case may have stopped it
      }
    }
    remove_run(workers, place.run_name);
  }
  std::_Exit(EXIT_SUCCESS);
}

} // namespace

MeetingPlace open_meeting_place(const std::string& worker_key) {
  MeetingPlace found;
  const auto ctest = os::find_ctest();
  if (!ctest) {
    found.problem = "CTest has not started it";
    return found;
  }
  found.ctest = open_pidfd(ctest->pid);
  const auto start = os::start_time_of(ctest->pid); // if it is another process's by now, ctest is seen to have ended
  if (!found.ctest || !start) {
    found.problem = "the end of ctest could not be seen here";
    return found;
  }
  found.run_name = std::to_string(ctest->pid) + "-" + std::to_string(*start) + name_of_namespace();
  // Where /tmp cannot be used, the folder is below the ledger's.
  std::string home;
  for (const auto& above : {std::string{"/tmp"}, os::variable("GPUTEST_DIR")}) {
    if (!found.user_folder && !above.empty()) {
      home = above == "/tmp" ? os::user_folder() : above + "/gputest-" + std::to_string(own_user());
      found.user_folder = open_own_folder(AT_FDCWD, home);
      if (!found.user_folder && !worker_key.empty()) {
        const WithoutUmask modes;
        ::mkdir(above.c_str(), 0700);
        ::mkdir(home.c_str(), 0700);
        found.user_folder = open_own_folder(AT_FDCWD, home);
      }
    }
  }
  found.path = home + "/workers";
  const auto run = "workers/" + found.run_name; // nobody else can have put anything there
  found.run_folder = open_folder(found.user_folder.number(), run);
  if (worker_key.empty()) {
    return found;
  }
  if (const auto workers =
          found.user_folder && !found.run_folder ? make_folder(found.user_folder.number(), "workers") : Descriptor{}) {
    bool is_new = false;
    found.run_folder = make_folder(workers.number(), found.run_name, &is_new);
    if (is_new) {
      remove_leftovers(workers);
      remove_at_its_end(found, workers);
    }
  }
  if (found.run_folder) {
    found.key_folder = make_folder(found.run_folder.number(), worker_key);
  }
  int error = errno; // of the last make_folder()
  found.path += "/" + found.run_name + "/" + worker_key;
  if (!found.key_folder) {
    const bool is_made = ::mkdir(home.c_str(), 0700) == 0 || errno == EEXIST;
    if (!is_made || (::access(home.c_str(), W_OK) != 0 && errno == EROFS)) {
      error = errno;
    } else if (!found.user_folder || error == EEXIST) {
      error = 0;
    }
    found.problem =
        found.path +
        (error != 0
             ? " cannot be made: " + os::reason(error) + ". Set "
             : " cannot be used: it has to be this user's own, and closed to others (0700). Remove it, or set ") +
        "GPUTEST_DIR to a folder of your own";
  }
  return found;
}

sockaddr_un address_in(const Descriptor& folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = path_of(folder) + "/" + name;
  const std::string fitting = path.size() < sizeof address.sun_path ? path : "/proc/self/fd/none/none";
  std::memcpy(address.sun_path, fitting.c_str(), fitting.size());
  return address;
}

Descriptor open_folder(int above, const std::string& name) {
  return Descriptor{::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

Descriptor open_own_folder(int above, const std::string& name) {
  auto folder = open_folder(above, name);
  struct stat status {};
  if (!folder || ::fstat(folder.number(), &status) != 0 || status.st_uid != own_user() || (status.st_mode & 077) != 0) {
    return {};
  }
  return folder;
}

Descriptor make_folder(int above, const std::string& name, bool* is_new) {
  auto folder = open_folder(above, name);
  if (!folder) {
    const WithoutUmask modes;
    const bool is_made = ::mkdirat(above, name.c_str(), 0700) == 0;
    const int error = errno;
    if (is_new != nullptr) {
      *is_new = is_made;
    }
    folder = open_folder(above, name);
    if (!is_made) {
      errno = error;
    }
  }
  return folder;
}

bool is_there(const Descriptor& folder, const std::string& name) {
  return ::faccessat(folder.number(), name.c_str(), F_OK, 0) == 0;
}

Descriptor open_lock_file(const Descriptor& folder, const char* name) {
  constexpr int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
  if (Descriptor file{::openat(folder.number(), name, flags)}) {
    return file;
  }
  const WithoutUmask modes;
  return Descriptor{::openat(folder.number(), name, flags | O_CREAT, 0600)};
}

std::string contents_of(const Descriptor& folder, const std::string& name) {
  const Descriptor file{::openat(folder.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  return file ? os::read_to_end(file.number()).value_or("") : "";
}

bool is_of(const Descriptor& key_folder, const std::string& executable, const std::string& fixtures) {
  return contents_of(key_folder, "executable") == executable && contents_of(key_folder, "fixtures") == fixtures;
}

std::string read_from(const Descriptor& file, off_t offset) {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = ::pread(file.number(), block.data(), block.size(), offset)) > 0; offset += count) {
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) { return policy::parts_of(text, '\n'); }

std::chrono::milliseconds milliseconds_in(const Descriptor& folder, const std::string& name) {
  return std::chrono::milliseconds{std::strtol(contents_of(folder, name).c_str(), nullptr, 10)};
}

void write_milliseconds(const Descriptor& folder, const char* name, std::chrono::milliseconds number) {
  auto text = std::to_string(number.count());
  text.insert(0, 20 - text.size(), ' '); // as long as the one before
  static_cast<void>(::pwrite(open_lock_file(folder, name).number(), text.data(), text.size(), 0) < 0);
}

bool write_file(const Descriptor& folder, const std::string& name, const std::string& text) {
  const WithoutUmask modes;
  const auto temporary = "new-" + name + "-" + std::to_string(::getpid());
  const Descriptor file{
      ::openat(folder.number(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)};
  const bool done = file && ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    ::renameat(folder.number(), temporary.c_str(), folder.number(), name.c_str()) == 0;
  if (const int error = errno; !done) {
    ::unlinkat(folder.number(), temporary.c_str(), 0);
    errno = error;
  }
  return done;
}

bool add_to_file(const Descriptor& folder, const char* name, const std::string& text) {
  const WithoutUmask modes;
  const Descriptor file{::openat(folder.number(), name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600)};
  return ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::vector<std::pair<std::size_t, std::string>> ended_workers(const Descriptor& folder) {
  std::vector<std::pair<std::size_t, std::string>> workers;
  for (const auto& line : lines_of(contents_of(folder, "workers"))) { // `<cases> <why>`
    workers.emplace_back(std::strtoul(line.c_str(), nullptr, 10), line.substr(line.find(' ') + 1));
  }
  return workers;
}

bool note_end(const Descriptor& folder, bool may_be_anothers_error, const std::string& output, const std::string& how) {
  const auto text = policy::in_whole_lines(output) + "gputest: " + (may_be_anothers_error ? "shared error" : "failed") +
                    ": a process of " + contents_of(folder, "executable") + " " + how + "\n";
  return add_to_file(folder, may_be_anothers_error ? "notes" : "failures", text);
}

std::vector<std::string> names_in(const Descriptor& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at{path_of(folder), error}, end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename());
  }
  return names;
}

PresenceLock::PresenceLock(const Descriptor& folder, const char* name)
    : file_{open_lock_file(folder, name)}, process_{::getpid()} {
  set(true);
}

void PresenceLock::set(bool marked) const {
  struct flock byte {};
  byte.l_type = marked ? F_WRLCK : F_UNLCK;
  byte.l_whence = SEEK_SET;
  byte.l_start = process_;
  byte.l_len = 1;
  ::fcntl(file_.number(), F_OFD_SETLK, &byte);
}

void wait_until_none_is_present(const Descriptor& file) {
  struct flock all {};
  all.l_type = F_RDLCK;
  all.l_whence = SEEK_SET;
  while (::fcntl(file.number(), F_OFD_SETLKW, &all) != 0 && errno == EINTR) {
  }
}

std::vector<pid_t> present_in(const Descriptor& folder, const char* name, std::size_t most) {
  const auto file = open_lock_file(folder, name);
  std::vector<pid_t> pids;
  std::vector<std::pair<off_t, off_t>> unknown{{0, most_pids}}; // from the first byte to before the last
  while (!unknown.empty() && pids.size() < most) {
    const auto [begin, end] = unknown.back();
    unknown.pop_back();
    struct flock any {}; // the kernel tells one lock, and not always the first
    any.l_type = F_WRLCK;
    any.l_whence = SEEK_SET;
    any.l_start = begin;
    any.l_len = end - begin;
    if (begin < end && ::fcntl(file.number(), F_OFD_GETLK, &any) == 0 && any.l_type != F_UNLCK) {
      pids.push_back(static_cast<pid_t>(any.l_start));
      unknown.emplace_back(begin, any.l_start);
      unknown.emplace_back(any.l_start + 1, end);
    }
  }
  return pids;
}

std::size_t count_present(const Descriptor& folder, const char* name) { return present_in(folder, name).size(); }

std::size_t count_cases(const Descriptor& run) {
  std::size_t count = 0;
  for (const auto& name : names_in(run)) {
    const auto folder = open_folder(run.number(), name);
    count += folder && is_there(folder, "cases") ? count_present(folder, "cases") : 0;
  }
  return count;
}

} // namespace gputest::workers
