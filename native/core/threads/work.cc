#include "core/threads/work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/threads/spinning.h"

namespace lorekeep {
namespace {

using LoopBody = std::function<void(std::size_t, std::size_t, std::size_t)>;

// Sleeping and waking takes 40 µs; helpers usually end at about the same time as the caller.
constexpr std::chrono::microseconds kLongestSpin{50};

// Shared by the caller and its helpers. Outlives the call if a helper is dequeued after the loop has ended.
struct Loop {
  const CancelToken* cancel;
  std::size_t count;
  std::size_t grain;
  const LoopBody* body;  // valid while the caller waits; helpers touch it only between enter() and leave()

  Loop(const CancelToken* token, std::size_t all, std::size_t piece, const LoopBody* each)
      : cancel(token), count(all), grain(piece), body(each) {}

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
    while (active.load() != 0 && std::chrono::steady_clock::now() < end) pause_spinning();
  }
  void run(std::size_t worker) noexcept {
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

void parallel_for(const Work& work, std::size_t count, std::size_t grain, const LoopBody& body,
                  const std::source_location& where) {
  if (count == 0) return;
  auto loop = std::make_shared<Loop>(work.cancel, count, std::max<std::size_t>(1, grain), &body);
  const std::size_t pieces = (count + loop->grain - 1) / loop->grain;
  const std::size_t helpers = work.pool == nullptr ? 0 : std::min(std::max<std::size_t>(work.workers, 1), pieces) - 1;
  try {
    for (std::size_t i = 0; i < helpers; ++i) {
      const auto help = [loop, worker = i + 1] {
        if (!loop->enter()) return;
        loop->run(worker);
        loop->leave();
      };
      work.pool->submit(help, where);
    }
  } catch (const std::bad_alloc&) {  // continue with fewer helpers; queued ones still use `body`, so this call must not
                                     // return yet
  }
  loop->run(0);
  loop->spin_until_idle();
  std::unique_lock lock(loop->mutex);
  loop->idle.wait(lock, [&] { return loop->active == 0; });
  loop->finished = true;
  // Moved out, so that a helper still in the queue does not share the exception with the caller.
  const std::exception_ptr error = std::exchange(loop->error, nullptr);
  lock.unlock();
  if (error) std::rethrow_exception(error);
  work.check();
}

}  // namespace lorekeep
