// A fixed set of threads with one queue. Callers take part in their own parallel loops, so a loop started from
// inside the pool can never wait for a thread that waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/cancel_token.h"
#include "core/thread_priority.h"

namespace lorekeep {

class ThreadPool {
 public:
  /// `threads` >= 1. A thread that has ended a task looks out for the next one for as long as `linger` before it
  /// sleeps: waking a sleeping one costs whoever submits 10 µs, and the task 40. When the system refuses threads,
  /// the pool works with those that it got; without any, submit() runs the task.
  explicit ThreadPool(std::size_t threads, std::chrono::microseconds linger = {},
                      ThreadPriority priority = ThreadPriority::kNormal);
  /// Runs what is queued, then joins.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Threads that there are.
  std::size_t size() const noexcept { return wanted_.load(std::memory_order_relaxed); }

  /// Starts threads, or ends those that are too many as soon as each has ended its task, and waits for that. One call
  /// at a time, and not from inside a task. `threads` >= 1. As for the constructor, there may be fewer.
  void resize(std::size_t threads);

  /// `task` must not throw.
  void submit(std::function<void()> task);

  /// Whether a thread has nothing to do, so that a task would be begun at once. Who has only little to share asks
  /// first: behind a long task it would be for nothing.
  bool has_idle_thread();

  /// Waits until nothing is queued or running, at most `limit`; returns whether that came. For the end of a process.
  bool wait_idle(std::chrono::milliseconds limit);

 private:
  void run(std::size_t index);
  void look_out(std::unique_lock<std::mutex>& lock);
  void grow(std::size_t threads);
  bool start_thread();
  void stop() noexcept;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  const std::chrono::microseconds linger_;
  const ThreadPriority priority_;
  std::deque<std::function<void()>> queue_;
  std::atomic<std::size_t> queued_{0};  // size of the queue, for threads that look out
  std::size_t lookouts_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::atomic<std::size_t> wanted_{0};  // threads with an index from here on leave
  std::vector<std::thread> threads_;
};

/// Hardware threads that this process may use, at least 1. On Linux its affinity counts, and the quota of its control
/// groups (cpu_quota.h) as it was at the first call.
std::size_t usable_threads() noexcept;

}  // namespace lorekeep
