#include "engine/compute_slots.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "harness.h"

using namespace lorekeep;
using namespace lorekeep::engine;
using scheduler::ConsumerClass;

namespace {

constexpr ConsumerClass kQuery = ConsumerClass::kInteractiveVisible;
constexpr ConsumerClass kBuild = ConsumerClass::kBackground;

/// Takes a slot on a thread of its own.
class Taker {
 public:
  Taker(ComputeSlots& slots, ConsumerClass consumer_class, std::vector<ConsumerClass>& order, std::mutex& mutex)
      : thread_([&slots, &order, &mutex, consumer_class, this] {
          const ComputeSlots::Lease lease = slots.take(consumer_class, &cancel_);
          std::lock_guard lock(mutex);
          order.push_back(consumer_class);
        }) {}
  ~Taker() { thread_.join(); }

 private:
  CancelToken cancel_;
  std::thread thread_;
};

}  // namespace

TEST("no more threads hold slots than there are") {
  ComputeSlots slots(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const ComputeSlots::Lease lease = slots.take(kQuery, nullptr);
        const int now = ++inside;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        --inside;
        ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(done.load(), 1600);
  CHECK(most.load() >= 1 && most.load() <= 3);
}

TEST("a cancelled waiter leaves the queue and the others go on") {
  ComputeSlots slots(1);
  CancelToken cancel;
  cancel.cancel();
  std::atomic<bool> served{false};
  std::thread waiter;
  {
    const ComputeSlots::Lease held = slots.take(kQuery, nullptr);
    CHECK_FAILS(Code::kCancelled, slots.take(kQuery, &cancel));
    waiter = std::thread([&] {
      const ComputeSlots::Lease lease = slots.take(kQuery, nullptr);
      served = true;
    });
    CHECK_FAILS(Code::kCancelled, slots.take(kQuery, &cancel));
    CHECK(!served);
  }
  waiter.join();
  CHECK(served);
  const ComputeSlots::Lease lease = slots.take(kQuery, nullptr);
}

TEST("a query goes before the batches of bulk jobs that wait") {
  ComputeSlots slots(1);
  std::vector<ConsumerClass> order;
  std::mutex mutex;
  {
    std::deque<Taker> takers;
    const ComputeSlots::Lease held = slots.take(kBuild, nullptr);
    for (int i = 0; i < 4; ++i) takers.emplace_back(slots, kBuild, order, mutex);
    while (slots.waiting() < 4) std::this_thread::yield();
    takers.emplace_back(slots, kQuery, order, mutex);
    while (slots.waiting() < 5) std::this_thread::yield();
  }
  CHECK_EQ(order.size(), std::size_t{5});
  CHECK(order.front() == kQuery);
}

TEST("a throttled bulk job pauses, and a query does not") {
  scheduler::Control control;
  // A pause that no test waits for.
  scheduler::Settings settings;
  settings.classes[scheduler::index_of(kBuild)].max_pause_ms = 1e7;
  settings.classes[scheduler::index_of(kQuery)].max_pause_ms = 0;
  control.configure(settings);
  control.set_throttle(1);
  ComputeSlots slots(2, control);
  {
    const ComputeSlots::Lease batch = slots.take(kBuild, nullptr);
  }  // the pause begins
  {
    const ComputeSlots::Lease query = slots.take(kQuery, nullptr);
  }
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, slots.take(kBuild, &cancel));
}

TEST("a bulk job rests beside interactive requests, until none is left") {
  scheduler::Control control;
  control.set_active({true, true, false});
  ComputeSlots slots(1, control);
  slots.rest(kBuild, 1e6);
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, slots.take(kBuild, &cancel));
  {
    const ComputeSlots::Lease query = slots.take(kQuery, nullptr);
  }
  control.set_active({false, false, true});
  const ComputeSlots::Lease next = slots.take(kBuild, nullptr);
}

TEST("work that rests with its slot goes on for a better class, and for a cancellation") {
  scheduler::Control control;
  control.set_active({true, false, false});
  ComputeSlots slots(1, control);
  std::atomic<bool> holds{false};
  std::thread bulk([&] {
    ComputeSlots::Lease lease = slots.take(kBuild, nullptr);
    slots.rest(kBuild, 1e6);
    holds = true;
    lease.rest(nullptr);
  });
  while (!holds) std::this_thread::yield();
  {
    const ComputeSlots::Lease query = slots.take(kQuery, nullptr);
  }
  bulk.join();
  control.set_active({});
  ComputeSlots::Lease lease = slots.take(kBuild, nullptr);
  control.set_active({true, false, false});
  CancelToken cancel;
  cancel.cancel();
  lease.rest(&cancel);
}

TEST("work that gives way goes on before later work of its class") {
  ComputeSlots slots(1);
  std::vector<ConsumerClass> order;
  std::mutex mutex;
  std::optional<Taker> later;
  {
    ComputeSlots::Lease lease = slots.take(kBuild, nullptr);
    CHECK(!lease.is_wanted());
    later.emplace(slots, kBuild, order, mutex);
    while (slots.waiting() < 1) std::this_thread::yield();
    CHECK(!lease.is_wanted());
    const Taker query(slots, kQuery, order, mutex);
    while (slots.waiting() < 2) std::this_thread::yield();
    CHECK(lease.is_wanted());
    lease.give_way(nullptr);
    std::lock_guard lock(mutex);
    CHECK_EQ(order.size(), std::size_t{1});
    CHECK(order.front() == kQuery);
  }
  later.reset();
  CHECK_EQ(order.size(), std::size_t{2});
}

TEST("work that is cancelled while it gives way holds no slot") {
  ComputeSlots slots(1);
  CancelToken cancel;
  std::atomic<bool> holds{false};
  std::atomic<bool> ends{false};
  std::optional<ComputeSlots::Lease> bulk(std::in_place, slots, kBuild, nullptr);
  std::thread query([&] {
    const ComputeSlots::Lease lease = slots.take(kQuery, nullptr);
    holds = true;
    while (!ends) std::this_thread::yield();
  });
  while (!bulk->is_wanted()) std::this_thread::yield();
  std::thread canceller([&] {
    while (!holds) std::this_thread::yield();
    cancel.cancel();
  });
  CHECK_FAILS(Code::kCancelled, bulk->give_way(&cancel));
  bulk.reset();
  ends = true;
  query.join();
  canceller.join();
  {
    const ComputeSlots::Lease only = slots.take(kBuild, nullptr);
    CHECK_FAILS(Code::kCancelled, slots.take(kBuild, &cancel));
  }
}
