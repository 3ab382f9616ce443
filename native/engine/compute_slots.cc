#include "engine/compute_slots.h"

#include <algorithm>
#include <chrono>

namespace lorekeep::engine {

ComputeSlots::Lease::~Lease() {
  std::lock_guard lock(slots_.mutex_);
  ++slots_.free_;
  slots_.changed_.notify_all();
}

ComputeSlots::Lease ComputeSlots::take(const CancelToken* cancel) {
  constexpr std::chrono::milliseconds kPoll{20};
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = next_ticket_++;
  queue_.push_back(ticket);
  while (queue_.front() != ticket || free_ == 0) {
    if (cancel != nullptr && cancel->cancelled()) {
      queue_.erase(std::find(queue_.begin(), queue_.end(), ticket));
      lock.unlock();
      changed_.notify_all();
      cancel->check();
    }
    changed_.wait_for(lock, kPoll);
  }
  queue_.pop_front();
  --free_;
  const bool more = free_ > 0 && !queue_.empty();
  lock.unlock();
  if (more) changed_.notify_all();
  return Lease(*this);
}

}  // namespace lorekeep::engine
