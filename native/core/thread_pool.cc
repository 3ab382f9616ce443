#include "core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "core/cpu_quota.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace lorekeep {
namespace {

void pause_a_little() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads, std::chrono::microseconds linger) : linger_(linger) {
  try {
    grow(threads);
  } catch (...) {
    stop();
    throw;
  }
}

void ThreadPool::grow(std::size_t threads) {
  if (threads == 0) fail(Code::kInvalidArgument, "a thread pool needs at least one thread");
  threads_.reserve(threads);
  try {
    while (threads_.size() < threads) {
      const std::size_t index = threads_.size();
      wanted_.store(index + 1);
      threads_.emplace_back([this, index] { run(index); });
    }
  } catch (const std::system_error& error) {
    wanted_.store(threads_.size());
    fail(Code::kOutOfMemory, "cannot start a thread: " + std::string(error.what()));
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
  }
  wake_.notify_all();
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
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::submit(std::function<void()> task) {
  bool wake;
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
    queued_.store(queue_.size());
    wake = queue_.size() > lookouts_;
  }
  if (wake) wake_.notify_one();
}

bool ThreadPool::has_idle_thread() {
  std::lock_guard lock(mutex_);
  return running_ + queue_.size() < size();
}

/// Whoever looks out looks into the queue again before it sleeps, so it misses no task that it was not woken for.
void ThreadPool::look_out(std::unique_lock<std::mutex>& lock) {
  if (!queue_.empty() || linger_.count() == 0) return;
  ++lookouts_;
  lock.unlock();
  const auto end = std::chrono::steady_clock::now() + linger_;
  while (queued_.load() == 0 && std::chrono::steady_clock::now() < end) pause_a_little();
  lock.lock();
  --lookouts_;
}

void ThreadPool::run(std::size_t index) {
  for (bool first = true;; first = false) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      if (!first) look_out(lock);
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty() || index >= wanted_.load(); });
      if (!stopping_ && index >= wanted_.load()) {
        wake_.notify_one();  // it may have been woken for a task that another is to do now
        return;
      }
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
      queued_.store(queue_.size());
      ++running_;
    }
    task();
    task = nullptr;  // what it captured is freed before the pool counts as idle
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
  // Once: every search asks, and pools keep their sizes anyway.
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

namespace {

using LoopBody = std::function<void(std::size_t, std::size_t, std::size_t)>;

// To sleep and be woken takes 40 µs; helpers mostly end at about the same time as the caller.
constexpr std::chrono::microseconds kLongestSpin{50};

// Shared by the caller and its helpers; outlives the call when a helper is dequeued after the loop has ended.
struct Loop {
  std::size_t count;
  std::size_t grain;
  const CancelToken* cancel;
  const LoopBody* body;  // valid while the caller waits; helpers touch it only between enter() and leave()

  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::condition_variable idle;
  std::atomic<std::size_t> active{0};  // changed under the mutex
  bool finished = false;
  std::exception_ptr error;

  bool enter() {
    std::lock_guard lock(mutex);
    if (finished) return false;
    ++active;
    return true;
  }
  void leave() {
    std::lock_guard lock(mutex);
    if (--active == 0) idle.notify_all();
  }
  void spin_until_idle() const noexcept {
    if (active.load() == 0) return;
    const auto end = std::chrono::steady_clock::now() + kLongestSpin;
    while (active.load() != 0 && std::chrono::steady_clock::now() < end) pause_a_little();
  }
  void work(std::size_t worker) noexcept {
    try {
      while (!failed.load(std::memory_order_relaxed)) {
        const std::size_t begin = next.fetch_add(grain);
        if (begin >= count) return;
        if (cancel != nullptr) cancel->check();
        (*body)(begin, std::min(begin + grain, count), worker);
      }
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      failed.store(true, std::memory_order_relaxed);
    }
  }
};

}  // namespace

void parallel_for(ThreadPool* pool, std::size_t workers, std::size_t count, std::size_t grain,
                  const CancelToken* cancel, const LoopBody& body) {
  if (count == 0) return;
  auto loop = std::make_shared<Loop>();
  loop->count = count;
  loop->grain = std::max<std::size_t>(1, grain);
  loop->cancel = cancel;
  loop->body = &body;
  const std::size_t pieces = (count + loop->grain - 1) / loop->grain;
  const std::size_t helpers = pool == nullptr ? 0 : std::min(std::max<std::size_t>(workers, 1), pieces) - 1;
  try {
    for (std::size_t i = 0; i < helpers; ++i) {
      pool->submit([loop, worker = i + 1] {
        if (!loop->enter()) return;
        loop->work(worker);
        loop->leave();
      });
    }
  } catch (const std::bad_alloc&) {  // fewer helpers; those already queued still refer to `body`, so this call stays
  }
  loop->work(0);
  loop->spin_until_idle();
  std::unique_lock lock(loop->mutex);
  loop->idle.wait(lock, [&] { return loop->active == 0; });
  loop->finished = true;
  // Taken out, so that a helper still in the queue does not hold what the caller is about to read.
  const std::exception_ptr error = std::exchange(loop->error, nullptr);
  lock.unlock();
  if (error) std::rethrow_exception(error);
}

}  // namespace lorekeep
