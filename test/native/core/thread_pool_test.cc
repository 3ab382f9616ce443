#include "core/threads/work.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "harness.h"

#if defined(__linux__)
#include <sys/resource.h>
#endif

namespace {

using namespace lorekeep;

TEST("a pool runs everything that was submitted before it is destroyed") {
  std::atomic<int> runs{0};
  {
    ThreadPool pool(3);
    CHECK_EQ(pool.size(), 3u);
    for (int i = 0; i < 200; ++i) pool.submit([&] { ++runs; });
  }
  CHECK_EQ(runs.load(), 200);
}

#if defined(__linux__)
TEST("threads of searches are nicer than others, and threads of builds nicer still") {
  const auto nice_in = [](ThreadPriority priority) {
    std::atomic<int> nice{-100};
    std::atomic<bool> background{false};
    {
      ThreadPool pool(1, {}, priority);
      pool.submit([&] {
        nice = ::getpriority(PRIO_PROCESS, 0);
        background = in_background();
      });
    }
    CHECK_EQ(background.load(), priority == ThreadPriority::kBackground);
    return nice.load();
  };
  const int own = ::getpriority(PRIO_PROCESS, 0);
  CHECK_EQ(nice_in(ThreadPriority::kNormal), own);
  CHECK_EQ(nice_in(ThreadPriority::kSearch), std::min(own + 3, 19));
  CHECK_EQ(nice_in(ThreadPriority::kBackground), std::min(own + 10, 19));
  CHECK_EQ(::getpriority(PRIO_PROCESS, 0), own);
}
#endif

TEST("a pool whose threads look out for tasks before they sleep misses none, at whatever pace they come") {
  std::atomic<int> runs{0};
  constexpr int kTasks = 300;
  {
    ThreadPool pool(3, std::chrono::microseconds(200));
    for (int i = 0; i < kTasks; ++i) {
      const int before = runs.load();
      pool.submit([&] { ++runs; });
      if (i % 3 == 0) pool.submit([&] { ++runs; });
      // At once, within the time, about at its end, and long after it.
      std::this_thread::sleep_for(std::chrono::microseconds(i % 4 == 3 ? 1000 : 100 * (i % 4)));
      if (i % 50 == 0) pool.resize(1 + static_cast<std::size_t>(i) % 4);
      while (runs.load() == before) std::this_thread::yield();  // for ever, if the task was missed
    }
    CHECK(pool.wait_idle(std::chrono::seconds(60)));
    CHECK_EQ(runs.load(), kTasks + kTasks / 3);
    for (int i = 0; i < 50; ++i) pool.submit([&] { ++runs; });
  }
  CHECK_EQ(runs.load(), kTasks + kTasks / 3 + 50);
}

TEST("a pool says whether a thread of it has nothing to do") {
  ThreadPool pool(2);
  CHECK(pool.has_idle_thread());
  std::atomic<bool> go{false};
  const auto wait = [&] {
    while (!go.load()) std::this_thread::yield();
  };
  pool.submit(wait);
  CHECK(pool.has_idle_thread());
  pool.submit(wait);
  CHECK(!pool.has_idle_thread());
  pool.submit(wait);
  CHECK(!pool.has_idle_thread());
  go = true;
  CHECK(pool.wait_idle(std::chrono::seconds(60)));
  CHECK(pool.has_idle_thread());
}

TEST("a pool without threads is refused") {
  CHECK_FAILS(Code::kInvalidArgument, ThreadPool(0));
}

TEST("a pool of another size runs everything all the same, also what was submitted while it changed") {
  std::atomic<int> runs{0};
  {
    ThreadPool pool(1);
    for (const std::size_t size : {8u, 2u, 5u, 1u, 1u, 16u, 3u}) {
      std::thread other([&] {
        for (int i = 0; i < 500; ++i) pool.submit([&] { ++runs; });
      });
      pool.resize(size);
      CHECK_EQ(pool.size(), size);
      other.join();
    }
    CHECK(pool.wait_idle(std::chrono::seconds(60)));
    CHECK_FAILS(Code::kInvalidArgument, pool.resize(0));
  }
  CHECK_EQ(runs.load(), 7 * 500);
}

TEST("as many tasks run at once as the pool was resized to") {
  ThreadPool pool(1);
  for (const int size : {4, 2}) {
    pool.resize(static_cast<std::size_t>(size));
    std::atomic<int> running{0}, most{0}, started{0};
    for (int i = 0; i < 3 * size; ++i) {
      pool.submit([&] {
        const int now = ++running;
        int seen = most.load();
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        // The first ones wait for each other: so many are there at once.
        if (++started <= size) {
          while (started.load() < size) std::this_thread::yield();
        }
        --running;
      });
    }
    CHECK(pool.wait_idle(std::chrono::seconds(60)));
    CHECK_EQ(most.load(), size);
  }
}

TEST("at least one thread is usable") {
  CHECK(usable_threads() >= 1);
}

TEST("parallel_for visits every index once, in pieces of the grain") {
  ThreadPool pool(4);
  for (const std::size_t count : {1u, 7u, 64u, 1000u}) {
    for (const std::size_t grain : {0u, 1u, 3u, 64u, 5000u}) {
      std::vector<std::atomic<int>> visits(count);
      std::atomic<bool> too_large{false};
      parallel_for({&pool, 5}, count, grain, [&](std::size_t begin, std::size_t end, std::size_t) {
        if (end - begin > std::max<std::size_t>(grain, 1)) too_large = true;
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      CHECK(!too_large);
      for (const auto& n : visits) CHECK_EQ(n.load(), 1);
    }
  }
}

TEST("parallel_for over nothing calls nothing") {
  ThreadPool pool(2);
  bool called = false;
  parallel_for({&pool, 2}, 0, 1, [&](std::size_t, std::size_t, std::size_t) { called = true; });
  CHECK(!called);
}

TEST("parallel_for without a pool or with no workers runs on the caller as worker 0") {
  ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  for (const Work& work : {Work{nullptr, 8}, Work{&pool, 0}, Work{&pool, 1}}) {
    std::size_t total = 0;
    parallel_for(work, 10, 3, [&](std::size_t begin, std::size_t end, std::size_t worker) {
      CHECK_EQ(worker, 0u);
      CHECK(std::this_thread::get_id() == caller);
      total += end - begin;
    });
    CHECK_EQ(total, 10u);
  }
}

TEST("worker slots are below `workers` and never shared by two calls at once") {
  ThreadPool pool(4);
  constexpr std::size_t kWorkers = 3;
  std::vector<std::atomic<int>> busy(kWorkers);
  std::atomic<bool> shared{false};
  std::atomic<bool> beyond{false};
  parallel_for({&pool, kWorkers}, 2000, 1, [&](std::size_t, std::size_t, std::size_t worker) {
    if (worker >= kWorkers) {
      beyond = true;
      return;
    }
    if (busy[worker].fetch_add(1) != 0) shared = true;
    busy[worker].fetch_sub(1);
  });
  CHECK(!shared);
  CHECK(!beyond);
}

TEST("more workers than pieces or threads is fine") {
  ThreadPool pool(1);
  std::atomic<int> runs{0};
  parallel_for({&pool, 1000}, 2, 1, [&](std::size_t, std::size_t, std::size_t worker) {
    CHECK(worker < 2);
    ++runs;
  });
  parallel_for({&pool, 1000}, 500, 1, [&](std::size_t, std::size_t, std::size_t) { ++runs; });
  CHECK_EQ(runs.load(), 502);
}

TEST("loops nested inside the pool's own threads end") {
  ThreadPool pool(2);
  std::atomic<int> runs{0};
  parallel_for({&pool, 3}, 8, 1, [&](std::size_t, std::size_t, std::size_t) {
    parallel_for({&pool, 3}, 8, 1, [&](std::size_t, std::size_t, std::size_t) {
      parallel_for({&pool, 3}, 4, 1, [&](std::size_t, std::size_t, std::size_t) { ++runs; });
    });
  });
  CHECK_EQ(runs.load(), 8 * 8 * 4);
}

TEST("many callers share one pool") {
  ThreadPool pool(2);
  std::atomic<int> runs{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        parallel_for({&pool, 4}, 16, 1, [&](std::size_t, std::size_t, std::size_t) { ++runs; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK_EQ(runs.load(), 6 * 20 * 16);
}

TEST("the exception of a piece reaches the caller after every piece has stopped") {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> inside{0};
    CHECK_FAILS(Code::kNotFound, parallel_for({&pool, 4}, 100, 1, [&](std::size_t begin, std::size_t, std::size_t) {
                  ++inside;
                  if (begin == 13) {
                    --inside;
                    fail(Code::kNotFound, "piece 13");
                  }
                  --inside;
                }));
    CHECK_EQ(inside.load(), 0);
  }
}

TEST("when every piece fails, one exception arrives") {
  ThreadPool pool(3);
  CHECK_FAILS(Code::kIo,
              parallel_for({&pool, 4}, 100, 1, [](std::size_t, std::size_t, std::size_t) { fail(Code::kIo, "no"); }));
}

TEST("a raised token stops the loop before its first piece, and later between pieces") {
  ThreadPool pool(2);
  CancelToken before;
  before.cancel();
  std::atomic<int> runs{0};
  CHECK_FAILS(Code::kCancelled,
              parallel_for({&pool, 3, &before}, 100, 1, [&](std::size_t, std::size_t, std::size_t) { ++runs; }));
  CHECK_EQ(runs.load(), 0);

  CancelToken during;
  constexpr int kPieces = 1000000;
  CHECK_FAILS(Code::kCancelled,
              parallel_for({&pool, 3, &during}, kPieces, 1, [&](std::size_t, std::size_t, std::size_t) {
                if (++runs == 5) during.cancel();
              }));
  CHECK(runs.load() < kPieces);
}

TEST("helpers dequeued after their loop has ended do nothing") {
  ThreadPool pool(1);
  std::mutex gate;
  gate.lock();
  pool.submit([&] { std::lock_guard wait(gate); });  // holds the only thread
  std::atomic<int> runs{0};
  parallel_for({&pool, 4}, 8, 1, [&](std::size_t, std::size_t, std::size_t) { ++runs; });
  CHECK_EQ(runs.load(), 8);
  gate.unlock();
}

}  // namespace
