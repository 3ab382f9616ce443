// A flag that one thread raises and long loops poll. Each loop states its grain (rows, hops, blocks, batches).
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "core/error.h"

namespace lorekeep {

/// What check() throws after the deadline: not a failure, but word to whoever set it that the work takes longer.
struct OutOfTime {};

class CancelToken {
 public:
  using Clock = std::chrono::steady_clock;

  CancelToken() = default;
  /// Work that gives up at `deadline`.
  explicit CancelToken(Clock::time_point deadline) : deadline_(deadline) {}

  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  /// Throws Error(kCancelled) once the flag is up, OutOfTime after the deadline.
  void check() const {
    if (cancelled()) fail(Code::kCancelled, "the operation was aborted");
    if (deadline_ && Clock::now() >= *deadline_) throw OutOfTime();
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::optional<Clock::time_point> deadline_;
};

}  // namespace lorekeep
