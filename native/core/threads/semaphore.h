// A counting semaphore whose release() never blocks. glibc's pthread_cond_signal does: it waits until threads that were
// woken before have run, which takes hundreds of milliseconds on busy processors. libstdc++ 12's
// std::counting_semaphore may sleep forever (PR 104928).
#pragma once

#if defined(__linux__)
#include <semaphore.h>

#include <cerrno>
#else
#include <condition_variable>
#include <cstddef>
#include <mutex>
#endif

namespace lorekeep {

#if defined(__linux__)

class Semaphore {
 public:
  Semaphore() noexcept { sem_init(&semaphore_, 0, 0); }
  ~Semaphore() { sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void release() noexcept { sem_post(&semaphore_); }
  void acquire() noexcept {
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }

 private:
  sem_t semaphore_;
};

#else

class Semaphore {
 public:
  Semaphore() = default;
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void release() {
    {
      std::lock_guard lock(mutex_);
      ++count_;
    }
    positive_.notify_one();
  }
  void acquire() {
    std::unique_lock lock(mutex_);
    positive_.wait(lock, [this] { return count_ > 0; });
    --count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable positive_;
  std::size_t count_ = 0;
};

#endif

}  // namespace lorekeep
