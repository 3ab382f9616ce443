// Threads that compute the operations of a step together. An operation is a number of tickets. A free thread takes the
// next one, so that a thread without a core delays at most its own ticket. A thread that finds no ticket spins for a
// moment, then sleeps: the next operation usually begins within microseconds, and waking takes 40. If another program
// took the core of the thread with the last ticket, the caller, which only waits, lends its core to that thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/threads/semaphore.h"
#include "decoder/thread_place.h"

namespace lorekeep::decoder {

class Team {
 public:
  /// The threads of a team have the priority of the thread that starts them.
  enum class Start { kNow, kLater };

  /// The caller of run() and `threads` - 1 others. With kLater, the caller is alone until start().
  explicit Team(std::size_t threads, Start when = Start::kNow);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Starts the other threads; fewer if the system refuses them. Not during a step.
  void start();

  /// Maximum number of threads, the caller included; workers are 0 to size() - 1.
  std::size_t size() const noexcept { return helpers_.size() + 1; }

  /// Begins a step that at most `threads` compute. `unwanted` (may be empty) is asked by the caller between its
  /// tickets.
  void begin(std::size_t threads, const std::function<bool()>* unwanted) noexcept;

  /// Maximum number of threads of the step.
  std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }

  /// Calls body(ticket, worker) for each ticket in [0, tickets), on several threads, and waits. Returns false if the
  /// step is unwanted: some tickets were not computed. `body` must not throw.
  template <class Body>
  bool run(std::size_t tickets, const Body& body) {
    const auto call = [](const void* context, std::size_t ticket, std::size_t worker) noexcept {
      (*static_cast<const Body*>(context))(ticket, worker);
    };
    return run_tickets(tickets, {call, &body});
  }

  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

 private:
  struct Job {
    void (*call)(const void* context, std::size_t ticket, std::size_t worker) noexcept;
    const void* context;
  };
  struct Helper {
    std::thread thread;
    Semaphore wake;
    std::atomic<bool> asleep{false};
    std::atomic<bool> working{false};  // on a ticket
    std::atomic<bool> placed{false};   // `place` is set
    ThreadPlace place;
    std::int64_t used = -1;  // of `place`, when the caller began to watch it
    bool pulled = false;
  };

  bool run_tickets(std::size_t tickets, Job job);
  void help(std::size_t worker);
  bool take(std::size_t& ticket) noexcept;
  bool has_tickets(std::size_t worker) const noexcept;
  void finish_ticket() noexcept;
  void wait_for_helpers() noexcept;
  void watch_helpers() noexcept;
  void pull_stalled() noexcept;
  void poll() noexcept;

  // Phase, tickets and the next ticket in one word, so that no thread takes a ticket of an operation that has ended.
  alignas(64) std::atomic<std::uint64_t> word_{0};
  alignas(64) std::atomic<std::uint32_t> left_{0};  // tickets that are not computed yet
  std::atomic<bool> caller_waits_{false};
  alignas(64) Job job_{};  // of the operation; stable while a ticket of it is held
  std::atomic<std::uint32_t> limit_{1};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> ending_{false};
  Semaphore all_done_;
  const std::function<bool()>* unwanted_ = nullptr;
  std::uint32_t phase_ = 0;
  std::vector<std::unique_ptr<Helper>> helpers_;
  std::size_t started_ = 0;  // of the helpers
};

}  // namespace lorekeep::decoder
