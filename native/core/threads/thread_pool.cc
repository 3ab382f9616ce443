#include "core/threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "core/system/alternate_stack.h"
#include "core/system/cpu_quota.h"
#include "core/threads/spinning.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace lorekeep {

ThreadPool::ThreadPool(std::size_t threads, std::chrono::microseconds linger, ThreadPriority priority,
                       const WatchedPool& watched)
    : linger_(linger), priority_(priority), watched_(watched) {
  grow(threads);
}

void ThreadPool::grow(std::size_t threads) {
  if (threads == 0) fail(Code::kInvalidArgument, "a thread pool needs at least one thread");
  threads_.reserve(threads);
  {
    std::lock_guard lock(mutex_);
    sleepers_.reserve(threads);
  }
  while (threads_.size() < threads && start_thread()) {
  }
}

/// Returns false if the system refuses a thread; the pool continues with its present threads.
bool ThreadPool::start_thread() {
  const std::size_t index = threads_.size();
  wanted_.store(index + 1);
  try {
    threads_.emplace_back([this, index] { run(index); });
    return true;
  } catch (const std::system_error&) {
    wanted_.store(index);
    return false;
  }
}

void ThreadPool::resize(std::size_t threads) {
  if (threads >= threads_.size()) {
    grow(threads);
    return;
  }
  if (threads == 0) fail(Code::kInvalidArgument, "a thread pool needs at least one thread");
  {
    std::lock_guard lock(mutex_);
    wanted_.store(threads);
    wake_all();
  }
  while (threads_.size() > threads) {
    threads_.back().join();
    threads_.pop_back();
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

void ThreadPool::stop() noexcept {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::submit(std::function<void()> task, const std::source_location& where) {
  if (size() == 0) return task();
  Semaphore* sleeper = nullptr;
  {
    std::lock_guard lock(mutex_);
    queue_.push_back({std::move(task), where});
    queued_.store(queue_.size());
    if (queue_.size() > lookouts_) sleeper = take_sleeper();
  }
  if (sleeper != nullptr) sleeper->release();
}

/// Returns the thread that fell asleep last; null if none sleeps. Precondition: the lock is held.
Semaphore* ThreadPool::take_sleeper() noexcept {
  if (sleepers_.empty()) return nullptr;
  Semaphore* last = sleepers_.back();
  sleepers_.pop_back();
  return last;
}

/// Precondition: the lock is held.
void ThreadPool::wake_all() noexcept {
  while (Semaphore* sleeper = take_sleeper()) sleeper->release();
}

void ThreadPool::sleep(std::unique_lock<std::mutex>& lock, Semaphore& own) {
  sleepers_.push_back(&own);
  lock.unlock();
  own.acquire();
  lock.lock();
}

bool ThreadPool::has_idle_thread() {
  std::lock_guard lock(mutex_);
  return running_ + queue_.size() < size();
}

/// Spins for up to `linger` for the next task. The thread checks the queue again before it sleeps, so it misses no task
/// that was submitted without a wake-up.
void ThreadPool::look_out(std::unique_lock<std::mutex>& lock) {
  if (!queue_.empty() || linger_.count() == 0) return;
  ++lookouts_;
  lock.unlock();
  const auto end = std::chrono::steady_clock::now() + linger_;
  while (queued_.load() == 0 && std::chrono::steady_clock::now() < end) pause_spinning();
  lock.lock();
  --lookouts_;
}

void ThreadPool::run(std::size_t index) {
  const AlternateStack stack;
  enter_priority(priority_);
  Semaphore own;
  for (bool first = true;; first = false) {
    Queued next;
    {
      std::unique_lock lock(mutex_);
      if (!first) look_out(lock);
      while (!stopping_ && queue_.empty() && index < wanted_.load()) sleep(lock, own);
      if (!stopping_ && index >= wanted_.load()) {
        // This wake-up may have been for a task that another thread must do now.
        if (Semaphore* sleeper = queue_.empty() ? nullptr : take_sleeper()) sleeper->release();
        return;
      }
      if (queue_.empty()) return;
      next = std::move(queue_.front());
      queue_.pop_front();
      queued_.store(queue_.size());
      ++running_;
    }
    {
      const WatchedStep step(watched_.name, next.where, watched_.step_ends);
      next.task();
      next.task = nullptr;  // frees its captures before the pool counts as idle
    }
    std::lock_guard lock(mutex_);
    if (--running_ == 0 && queue_.empty()) idle_.notify_all();
  }
}

bool ThreadPool::wait_idle(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, limit, [this] { return running_ == 0 && queue_.empty(); });
}

std::size_t usable_threads() noexcept {
#if defined(__linux__)
  // Read once: every search asks, and pools keep their sizes anyway.
  static const std::size_t quota = cpu_quota("/").value_or(std::numeric_limits<std::size_t>::max());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    const auto allowed = static_cast<std::size_t>(CPU_COUNT(&set));
    return std::max<std::size_t>(1, std::min(allowed, quota));
  }
#else
  constexpr std::size_t quota = std::numeric_limits<std::size_t>::max();
#endif
  return std::max<std::size_t>(1, std::min<std::size_t>(std::thread::hardware_concurrency(), quota));
}

}  // namespace lorekeep
