// SPDX-License-Identifier: BSD-3-Clause
#include "file_locks.hpp"

#include "core/os/file.hpp"
#include "failure.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <thread>

namespace gputest::benchmarks {

namespace {

constexpr std::chrono::milliseconds poll_interval{50}; // filelock's default

os::Descriptor open_file(const std::string& place, int flags = 0) {
  return os::Descriptor{must(::open(place.c_str(), O_RDWR | O_CLOEXEC | flags, 0600), "open " + place)};
}

class Flock : public Lock {
public:
  explicit Flock(const std::string& place) : file_{open_file(place)} {}
  void acquire() override { must(::flock(file_.number(), LOCK_EX), "lock a file"); }
  void release() override { must(::flock(file_.number(), LOCK_UN), "unlock a file"); }

private:
  os::Descriptor file_;
};

class PolledFlock : public Lock {
public:
  explicit PolledFlock(std::string place) : client_{std::move(place)} {}

  void acquire() override {
    for (;;) {
      os::Descriptor file = open_file(client_);
      if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
        file_ = std::move(file);
        return;
      }
      if (errno != EWOULDBLOCK) {
        throw failure("lock " + client_);
      }
      file = os::Descriptor{};
      std::this_thread::sleep_for(poll_interval);
    }
  }
  void release() override {
    must(::flock(file_.number(), LOCK_UN), "unlock a file");
    file_ = os::Descriptor{};
  }

private:
  std::string client_;
  os::Descriptor file_;
};

} // namespace

void make_lock_file(const std::string& place) { open_file(place, O_CREAT | O_EXCL); }

std::unique_ptr<Lock> open_flock(const std::string& place) { return std::make_unique<Flock>(place); }

std::unique_ptr<Lock> open_polled_flock(const std::string& place) { return std::make_unique<PolledFlock>(place); }

} // namespace gputest::benchmarks
