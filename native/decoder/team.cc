#include "decoder/team.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "core/threads/spinning.h"

namespace lorekeep::decoder {
namespace {

constexpr std::uint64_t kCountShift = 20;
constexpr std::uint64_t kPhaseShift = 40;
constexpr std::uint64_t kField = (std::uint64_t{1} << 20) - 1;
constexpr std::uint32_t kPhases = (std::uint32_t{1} << 24) - 1;
constexpr std::chrono::microseconds kLongestSpin{50};
constexpr std::chrono::microseconds kWatched = kLongestSpin / 2;  // a thread that uses no time of these has no core
constexpr int kSpinsPerLook = 32;                                 // at the clock

std::uint64_t next_of(std::uint64_t word) noexcept {
  return word & kField;
}
std::uint64_t count_of(std::uint64_t word) noexcept {
  return (word >> kCountShift) & kField;
}

// Returns whether `ready` became true within `longest`.
template <class Ready>
bool spin_until(const Ready& ready, std::chrono::microseconds longest = kLongestSpin) noexcept {
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    for (int i = 0; i < kSpinsPerLook; ++i) {
      if (ready()) return true;
      pause_spinning();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

}  // namespace

Team::Team(std::size_t threads, Start when) {
  helpers_.reserve(threads);
  for (std::size_t worker = 1; worker < threads; ++worker) helpers_.push_back(std::make_unique<Helper>());
  if (when == Start::kNow) start();
}

void Team::start() {
  for (; started_ < helpers_.size(); ++started_) {
    try {
      helpers_[started_]->thread = std::thread([this, worker = started_ + 1] { help(worker); });
    } catch (const std::system_error&) {
      return;
    }
  }
}

Team::~Team() {
  ending_.store(true);
  for (std::size_t i = 0; i < started_; ++i) helpers_[i]->wake.release();
  for (std::size_t i = 0; i < started_; ++i) helpers_[i]->thread.join();
}

void Team::begin(std::size_t threads, const std::function<bool()>* unwanted) noexcept {
  limit_.store(static_cast<std::uint32_t>(std::clamp<std::size_t>(threads, 1, started_ + 1)));
  stopped_.store(false);
  unwanted_ = unwanted;
}

void Team::poll() noexcept {
  if (unwanted_ != nullptr && *unwanted_ && (*unwanted_)()) stopped_.store(true, std::memory_order_relaxed);
}

bool Team::take(std::size_t& ticket) noexcept {
  std::uint64_t word = word_.load(std::memory_order_acquire);
  while (next_of(word) < count_of(word)) {
    if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel)) {
      ticket = next_of(word);
      return true;
    }
  }
  return false;
}

void Team::finish_ticket() noexcept {
  if (left_.fetch_sub(1) == 1 && caller_waits_.exchange(false)) all_done_.release();
}

bool Team::run_tickets(std::size_t tickets, Job job) {
  poll();
  if (stopped()) return false;
  const std::size_t threads = std::min<std::size_t>(limit_.load(std::memory_order_relaxed), tickets);
  if (threads <= 1) {
    for (std::size_t ticket = 0; ticket < tickets && !stopped(); ++ticket) {
      if (ticket > 0) poll();
      if (!stopped()) job.call(job.context, ticket, 0);
    }
    return !stopped();
  }
  job_ = job;
  left_.store(static_cast<std::uint32_t>(tickets));
  phase_ = (phase_ + 1) & kPhases;
  word_.store((std::uint64_t{phase_} << kPhaseShift) | (std::uint64_t{tickets} << kCountShift));
  for (std::size_t i = 0; i + 1 < threads; ++i) {
    Helper& helper = *helpers_[i];
    if (helper.asleep.load() && helper.asleep.exchange(false)) helper.wake.release();
  }
  std::size_t ticket = 0;
  while (take(ticket)) {
    if (!stopped()) job.call(job.context, ticket, 0);
    finish_ticket();
    if (!stopped()) poll();
  }
  wait_for_helpers();
  return !stopped();
}

void Team::wait_for_helpers() noexcept {
  const auto done = [this] { return left_.load(std::memory_order_acquire) == 0; };
  if (spin_until(done, kLongestSpin - kWatched)) return;
  watch_helpers();
  if (spin_until(done, kWatched)) return;
  pull_stalled();
  // Asleep, this thread leaves its core to a helper that lost its own.
  caller_waits_.store(true);
  if (left_.load() != 0 || !caller_waits_.exchange(false)) all_done_.acquire();
  for (std::size_t i = 0; i < started_; ++i) {
    if (std::exchange(helpers_[i]->pulled, false)) helpers_[i]->place.release();
  }
}

void Team::watch_helpers() noexcept {
  for (std::size_t i = 0; i < started_; ++i) {
    Helper& helper = *helpers_[i];
    helper.used = helper.placed.load() && helper.working.load() ? helper.place.used() : -1;
  }
}

// The system alone may take milliseconds to see that a core has become idle.
void Team::pull_stalled() noexcept {
  for (std::size_t i = 0; i < started_; ++i) {
    Helper& helper = *helpers_[i];
    if (helper.used >= 0 && helper.working.load() && helper.place.used() == helper.used)
      helper.pulled = helper.place.pull();
  }
}

bool Team::has_tickets(std::size_t worker) const noexcept {
  const std::uint64_t word = word_.load();
  return next_of(word) < count_of(word) && worker < limit_.load();
}

void Team::help(std::size_t worker) {
  Helper& own = *helpers_[worker - 1];
  own.place.of_this_thread();
  own.placed.store(true);
  for (;;) {
    std::size_t ticket = 0;
    while (worker < limit_.load(std::memory_order_relaxed) && take(ticket)) {
      own.working.store(true, std::memory_order_relaxed);
      if (!stopped()) job_.call(job_.context, ticket, worker);
      own.working.store(false, std::memory_order_relaxed);
      finish_ticket();
    }
    if (ending_.load()) return;
    if (spin_until([this, worker] { return has_tickets(worker) || ending_.load(); })) continue;
    own.asleep.store(true);
    if ((has_tickets(worker) || ending_.load()) && own.asleep.exchange(false)) continue;
    own.wake.acquire();
  }
}

}  // namespace lorekeep::decoder
