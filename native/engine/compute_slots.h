#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "core/cancel_token.h"

namespace lorekeep::engine {

/// One slot per thread that a model may use. Every batch takes a slot, in order of arrival, so concurrent calls do not
/// oversubscribe the processor, and a query waits for one batch of a bulk job, not for the whole job.
class ComputeSlots {
 public:
  /// `slots` >= 1.
  explicit ComputeSlots(std::size_t slots) : total_(slots), free_(slots) {}

  /// A slot, released on destruction.
  class Lease {
   public:
    explicit Lease(ComputeSlots& slots) noexcept : slots_(slots) {}
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

   private:
    ComputeSlots& slots_;
  };

  /// Waits for a slot. Throws Error(kCancelled) within some 20 ms of the cancellation.
  Lease take(const CancelToken* cancel);

  std::size_t total() const noexcept { return total_; }

 private:
  const std::size_t total_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t free_;
  std::deque<std::uint64_t> queue_;  // tickets of waiting threads, in order
  std::uint64_t next_ticket_ = 0;
};

}  // namespace lorekeep::engine
