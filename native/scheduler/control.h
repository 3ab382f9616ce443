// Settings and state of the process's scheduler that any thread may use. Only the inference thread runs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "scheduler/scheduler.h"
#include "scheduler/thread_reason.h"

namespace lorekeep::scheduler {

/// Counts of the inference thread since the process started. Times in ms.
struct Report {
  Stats stats;
  std::uint64_t pauses = 0;
  double paused_ms = 0;
  /// Requests that have their cells, and requests that wait for them.
  PerClass<std::uint32_t> running{};
  PerClass<std::uint32_t> queued{};
  /// Threads that the latest step could use.
  std::uint32_t threads = 0;
  ThreadReason thread_reason = ThreadReason::kAll;
};

/// Thread-safe. Outlives the inference thread, so that settings hold for the next one.
class Control {
 public:
  static Control& of_process();

  void configure(const Settings& settings);
  Settings settings() const;
  /// Grows with every configure().
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }

  /// The share of the longest pauses that follow each step. Precondition: 0 to 1.
  void set_throttle(double level) noexcept { throttle_.store(level, std::memory_order_relaxed); }
  double throttle() const noexcept { return throttle_.load(std::memory_order_relaxed); }

  /// Which classes have requests of language models at work. Set by the inference thread.
  void set_active(const PerClass<bool>& active) noexcept;
  PerClass<bool> active() const noexcept;

  void publish(const Report& report);
  Report report() const;

 private:
  mutable std::mutex mutex_;
  Settings settings_;
  Report report_;
  std::atomic<std::uint64_t> version_{0};
  std::atomic<double> throttle_{0};
  std::atomic<std::uint32_t> active_{0};  // a bit per class
};

}  // namespace lorekeep::scheduler
