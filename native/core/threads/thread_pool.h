// Threads with one queue. Callers take part in their own parallel loops, so that a loop started inside the pool cannot
// wait for a thread that waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <source_location>
#include <thread>
#include <vector>

#include "core/system/thread_priority.h"
#include "core/threads/cancel_token.h"
#include "core/threads/semaphore.h"
#include "core/threads/step_watch.h"

namespace lorekeep {

/// How the watch for long steps names the threads of a pool, and which work of a task is one step.
struct WatchedPool {
  const char* name = "pool";
  WatchedStep::EndsAt step_ends = WatchedStep::EndsAt::kEnd;
};

class ThreadPool {
 public:
  /// `threads` >= 1. After a task, a thread spins for up to `linger` for the next one before it sleeps: waking a thread
  /// costs the submitter 10 µs and delays the task by 40. If the system refuses threads, the pool uses those it got;
  /// without any, submit() runs the task.
  explicit ThreadPool(std::size_t threads, std::chrono::microseconds linger = {},
                      ThreadPriority priority = ThreadPriority::kNormal, const WatchedPool& watched = {});
  /// Runs all queued tasks, then joins.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Number of threads.
  std::size_t size() const noexcept { return wanted_.load(std::memory_order_relaxed); }

  /// Starts threads, or ends surplus threads after their current task and waits for them. One call at a time, and not
  /// from inside a task. `threads` >= 1; as in the constructor, there may be fewer.
  void resize(std::size_t threads);

  /// `task` must not throw. `where`: the work that it does, for the watch for long steps.
  void submit(std::function<void()> task, const std::source_location& where = std::source_location::current());

  /// Returns whether a thread is idle, so that a task would start at once. Ask before sharing little work, which would
  /// be useless after a long task.
  bool has_idle_thread();

  /// Waits at most `limit` until nothing is queued or running, and returns whether this happened. For process exit.
  bool wait_idle(std::chrono::milliseconds limit);

 private:
  struct Queued {
    std::function<void()> task;
    std::source_location where;
  };

  void run(std::size_t index);
  void look_out(std::unique_lock<std::mutex>& lock);
  void sleep(std::unique_lock<std::mutex>& lock, Semaphore& own);
  Semaphore* take_sleeper() noexcept;
  void wake_all() noexcept;
  void grow(std::size_t threads);
  bool start_thread();
  void stop() noexcept;

  std::mutex mutex_;
  std::vector<Semaphore*> sleepers_;  // one for each sleeping thread; whoever removes it must release it
  std::condition_variable idle_;
  const std::chrono::microseconds linger_;
  const ThreadPriority priority_;
  const WatchedPool watched_;
  std::deque<Queued> queue_;
  std::atomic<std::size_t> queued_{0};  // size of the queue, for spinning threads
  std::size_t lookouts_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::atomic<std::size_t> wanted_{0};  // threads with an index from here on leave
  std::vector<std::thread> threads_;
};

/// Returns the hardware threads that this process may use, at least 1. On Linux, its affinity and the quota of its
/// control groups (cpu_quota.h, read at the first call) limit them.
std::size_t usable_threads() noexcept;

}  // namespace lorekeep
