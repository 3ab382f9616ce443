#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

#include "core/threads/cancel_token.h"
#include "scheduler/control.h"

namespace lorekeep::engine {

/// One slot per thread that a model may use. Every batch takes a slot, so concurrent calls do not oversubscribe the
/// processor. The best class goes first, then the order of arrival: a query waits for one batch of a bulk job, however
/// many of them wait. After a batch, its class and worse ones rest as the scheduler's settings say.
class ComputeSlots {
  using Ticket = std::pair<scheduler::ConsumerClass, std::uint64_t>;

 public:
  /// `slots` >= 1.
  explicit ComputeSlots(std::size_t slots, scheduler::Control& control = scheduler::Control::of_process())
      : control_(control), total_(slots), free_(slots) {}

  /// A slot, released on destruction.
  class Lease {
   public:
    /// Waits for it; see take().
    Lease(ComputeSlots& slots, scheduler::ConsumerClass consumer_class, const CancelToken* cancel);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    /// Rests as after a batch, with the slot. Ends early for a cancellation, and while a better class waits for it.
    void rest(const CancelToken* cancel);
    /// Whether a better class waits for a slot.
    bool is_wanted() const;
    /// Gives the slot to a better class and waits for one again, before those of its class that came later. Throws
    /// Error(kCancelled), and holds none from then on.
    void give_way(const CancelToken* cancel);

   private:
    ComputeSlots& slots_;
    const Ticket ticket_;
    bool holds_ = false;
    std::chrono::steady_clock::time_point begin_;
  };

  /// Waits for a slot. Throws Error(kCancelled) within some 20 ms of the cancellation.
  Lease take(scheduler::ConsumerClass consumer_class, const CancelToken* cancel) {
    return Lease(*this, consumer_class, cancel);
  }

  /// Rests as after a batch of the class that took `took_ms`.
  void rest(scheduler::ConsumerClass consumer_class, double took_ms);

  std::size_t total() const noexcept { return total_; }
  /// Threads that wait for a slot now.
  std::size_t waiting() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  Ticket new_ticket(scheduler::ConsumerClass consumer_class);
  /// Also of a ticket that waits already.
  void wait(const Ticket& ticket, const CancelToken* cancel);
  bool is_wanted_by_better(scheduler::ConsumerClass consumer_class) const;
  Time rests_until(scheduler::ConsumerClass consumer_class) const;

  scheduler::Control& control_;
  const std::size_t total_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t free_;
  std::set<Ticket> queue_;  // of waiting threads
  std::uint64_t next_ticket_ = 0;
  scheduler::PerClass<Time> throttled_until_{};
  Time shares_until_{};  // of the background
};

}  // namespace lorekeep::engine
