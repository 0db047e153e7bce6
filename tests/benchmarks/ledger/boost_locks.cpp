// SPDX-License-Identifier: BSD-3-Clause
#include "boost_locks.hpp"

#include <boost/interprocess/sync/file_lock.hpp>
#include <boost/interprocess/sync/named_mutex.hpp>

#include <algorithm>
#include <filesystem>

namespace gputest::benchmarks {

namespace ipc = boost::interprocess;

namespace {

/// The run's folder and the place's name in it: so the run's clean-up knows it by how it begins.
std::string semaphore_name(const std::string& place) {
  const std::filesystem::path path{place};
  return path.parent_path().filename().string() + "-" + path.filename().string();
}

class NamedMutex : public Lock {
public:
  explicit NamedMutex(const std::string& place) : mutex_{ipc::open_only, semaphore_name(place).c_str()} {}
  void acquire() override { mutex_.lock(); }
  void release() override { mutex_.unlock(); }

private:
  ipc::named_mutex mutex_;
};

class BoostFileLock : public Lock {
public:
  explicit BoostFileLock(const std::string& place) : lock_{place.c_str()} {}
  void acquire() override { lock_.lock(); }
  void release() override { lock_.unlock(); }

private:
  ipc::file_lock lock_;
};

} // namespace

void make_named_mutex(const std::string& place) {
  const ipc::named_mutex mutex{ipc::create_only, semaphore_name(place).c_str()};
}

std::unique_ptr<Lock> open_named_mutex(const std::string& place) { return std::make_unique<NamedMutex>(place); }

std::unique_ptr<Lock> open_boost_file_lock(const std::string& place) { return std::make_unique<BoostFileLock>(place); }

} // namespace gputest::benchmarks
