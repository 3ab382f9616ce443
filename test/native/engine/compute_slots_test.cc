#include "engine/compute_slots.h"

#include <atomic>
#include <thread>
#include <vector>

#include "harness.h"

using namespace lorekeep;
using namespace lorekeep::engine;

TEST("no more threads hold slots than there are") {
  ComputeSlots slots(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const ComputeSlots::Lease lease = slots.take(nullptr);
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
    const ComputeSlots::Lease held = slots.take(nullptr);
    CHECK_FAILS(Code::kCancelled, slots.take(&cancel));
    waiter = std::thread([&] {
      const ComputeSlots::Lease lease = slots.take(nullptr);
      served = true;
    });
    CHECK_FAILS(Code::kCancelled, slots.take(&cancel));
    CHECK(!served);
  }
  waiter.join();
  CHECK(served);
  const ComputeSlots::Lease lease = slots.take(nullptr);
}
