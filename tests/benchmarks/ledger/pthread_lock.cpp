// SPDX-License-Identifier: BSD-3-Clause
#include "pthread_lock.hpp"

#include "core/os/file.hpp"
#include "failure.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gputest::benchmarks {

namespace {

pthread_mutex_t* map_mutex(const std::string& place) {
  const os::Descriptor file{must(::open(place.c_str(), O_RDWR | O_CLOEXEC), "open " + place)};
  void* const memory = ::mmap(nullptr, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED) {
    throw failure("map " + place);
  }
  return static_cast<pthread_mutex_t*>(memory);
}

class PthreadLock : public Lock {
public:
  explicit PthreadLock(pthread_mutex_t* mutex) : mutex_{mutex} {}
  ~PthreadLock() override { ::munmap(mutex_, sizeof(pthread_mutex_t)); }

  void acquire() override {
    int error = ::pthread_mutex_lock(mutex_);
    if (error == EOWNERDEAD) {
      error = ::pthread_mutex_consistent(mutex_);
    }
    if (error != 0) {
      throw failure("lock a pthread mutex", error);
    }
  }
  void release() override { ::pthread_mutex_unlock(mutex_); }

private:
  pthread_mutex_t* mutex_;
};

} // namespace

void make_pthread_mutex(const std::string& place, Robustness robustness) {
  {
    const os::Descriptor file{
        must(::open(place.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "create " + place)};
    must(::ftruncate(file.number(), sizeof(pthread_mutex_t)), "resize " + place);
  }
  pthread_mutex_t* const mutex = map_mutex(place);
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes,
                                robustness == Robustness::robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
  const int error = ::pthread_mutex_init(mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  ::munmap(mutex, sizeof(pthread_mutex_t));
  if (error != 0) {
    throw failure("make a pthread mutex", error);
  }
}

std::unique_ptr<Lock> open_pthread_mutex(const std::string& place) {
  return std::make_unique<PthreadLock>(map_mutex(place));
}

} // namespace gputest::benchmarks
