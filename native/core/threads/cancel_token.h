// A flag that one thread sets and long loops poll. Each loop documents its grain (rows, hops, blocks, batches).
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "core/threads/step_watch.h"
#include "core/values/error.h"

namespace lorekeep {

/// Thrown by check() after the deadline. Not a failure: the work takes longer than the deadline's owner allows.
struct OutOfTime {};

class CancelToken {
 public:
  using Clock = std::chrono::steady_clock;

  CancelToken() = default;
  /// A token whose check() throws OutOfTime from `deadline` on.
  explicit CancelToken(Clock::time_point deadline) : deadline_(deadline) {}

  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept {
    if (StepWatch::on()) WatchedStep::checked();
    return cancelled_.load(std::memory_order_relaxed);
  }
  /// Throws Error(kCancelled) once the flag is set, OutOfTime after the deadline.
  void check() const {
    if (cancelled()) fail(Code::kCancelled, "the operation was aborted");
    if (deadline_ && Clock::now() >= *deadline_) throw OutOfTime();
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::optional<Clock::time_point> deadline_;
};

}  // namespace lorekeep
