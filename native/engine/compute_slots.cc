#include "engine/compute_slots.h"

#include <algorithm>

namespace lorekeep::engine {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::chrono::steady_clock::duration kPoll = std::chrono::milliseconds{20};

std::chrono::steady_clock::duration duration(double ms) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(Milliseconds(ms));
}

}  // namespace

ComputeSlots::Lease::Lease(ComputeSlots& slots, scheduler::ConsumerClass consumer_class, const CancelToken* cancel)
    : slots_(slots), ticket_(slots.new_ticket(consumer_class)) {
  slots_.wait(ticket_, cancel);
  holds_ = true;
  begin_ = std::chrono::steady_clock::now();
}

ComputeSlots::Lease::~Lease() {
  if (!holds_) return;
  slots_.rest(ticket_.first, Milliseconds(std::chrono::steady_clock::now() - begin_).count());
  std::lock_guard lock(slots_.mutex_);
  ++slots_.free_;
  slots_.changed_.notify_all();
}

void ComputeSlots::Lease::rest(const CancelToken* cancel) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  slots_.rest(ticket_.first, Milliseconds(now() - begin_).count());
  std::unique_lock lock(slots_.mutex_);
  for (;;) {
    const auto resting = slots_.rests_until(ticket_.first) - now();
    if (resting <= std::chrono::steady_clock::duration::zero() || slots_.is_wanted_by_better(ticket_.first)) break;
    if (cancel != nullptr && cancel->cancelled()) break;
    slots_.changed_.wait_for(lock, std::min(resting, kPoll));
  }
  begin_ = now();
}

bool ComputeSlots::Lease::is_wanted() const {
  std::lock_guard lock(slots_.mutex_);
  return slots_.is_wanted_by_better(ticket_.first);
}

void ComputeSlots::Lease::give_way(const CancelToken* cancel) {
  holds_ = false;
  {
    // It waits before the slot is free: later work of its class would go first otherwise.
    std::lock_guard lock(slots_.mutex_);
    slots_.queue_.insert(ticket_);
    ++slots_.free_;
  }
  slots_.changed_.notify_all();
  slots_.wait(ticket_, cancel);
  holds_ = true;
  begin_ = std::chrono::steady_clock::now();
}

ComputeSlots::Ticket ComputeSlots::new_ticket(scheduler::ConsumerClass consumer_class) {
  std::lock_guard lock(mutex_);
  return {consumer_class, next_ticket_++};
}

void ComputeSlots::wait(const Ticket& ticket, const CancelToken* cancel) {
  std::unique_lock lock(mutex_);
  queue_.insert(ticket);
  for (;;) {
    const auto resting = rests_until(ticket.first) - std::chrono::steady_clock::now();
    const bool rests = resting > std::chrono::steady_clock::duration::zero();
    if (*queue_.begin() == ticket && free_ > 0 && !rests) break;
    if (cancel != nullptr && cancel->cancelled()) {
      queue_.erase(ticket);
      lock.unlock();
      changed_.notify_all();
      cancel->check();
    }
    changed_.wait_for(lock, rests ? std::min(resting, kPoll) : kPoll);
  }
  queue_.erase(ticket);
  --free_;
  const bool more = free_ > 0 && !queue_.empty();
  lock.unlock();
  if (more) changed_.notify_all();
}

bool ComputeSlots::is_wanted_by_better(scheduler::ConsumerClass consumer_class) const {
  return !queue_.empty() && queue_.begin()->first < consumer_class;
}

std::size_t ComputeSlots::waiting() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

void ComputeSlots::rest(scheduler::ConsumerClass consumer_class, double took_ms) {
  const double level = control_.throttle();
  const scheduler::PerClass<bool> active = control_.active();
  const bool alone = std::none_of(active.begin(), active.end(), [](bool one) { return one; });
  if (level == 0 && alone) return;
  const scheduler::Rest rest = scheduler::rest_after(control_.settings(), consumer_class, took_ms, active, level);
  std::lock_guard lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  Time& throttled = throttled_until_[scheduler::index_of(consumer_class)];
  throttled = std::max(throttled, now + duration(rest.throttle_ms));
  shares_until_ = std::max(shares_until_, now + duration(rest.share_ms));
}

ComputeSlots::Time ComputeSlots::rests_until(scheduler::ConsumerClass consumer_class) const {
  const std::size_t last = scheduler::index_of(consumer_class);
  Time until = *std::max_element(throttled_until_.begin(), throttled_until_.begin() + last + 1);
  if (scheduler::interactive(consumer_class)) return until;
  const scheduler::PerClass<bool> active = control_.active();
  const auto worst = active.begin() + scheduler::index_of(scheduler::ConsumerClass::kBackground);
  if (std::any_of(active.begin(), worst, [](bool one) { return one; })) until = std::max(until, shares_until_);
  return until;
}

}  // namespace lorekeep::engine
