#include "decoder/team.h"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "harness.h"

using lorekeep::decoder::Team;

TEST("team: every ticket of every operation is computed once, by workers within bounds") {
  for (const std::size_t threads : {1u, 2u, 5u}) {
    Team team(threads);
    team.begin(threads, nullptr);
    for (std::size_t tickets = 0; tickets < 300; ++tickets) {
      std::vector<std::atomic<int>> computed(tickets);
      std::atomic<std::size_t> worst{0};
      const bool all = team.run(tickets, [&](std::size_t ticket, std::size_t worker) {
        ++computed[ticket];
        std::size_t seen = worst.load();
        while (worker > seen && !worst.compare_exchange_weak(seen, worker)) {
        }
      });
      CHECK(all);
      CHECK(worst.load() < team.size());
      for (const auto& count : computed) CHECK_EQ(count.load(), 1);
    }
  }
}

TEST("team: an operation sees what the one before it wrote") {
  Team team(4);
  team.begin(4, nullptr);
  std::vector<int> values(64, 0);
  for (int round = 1; round <= 2000; ++round) {
    team.run(values.size(), [&](std::size_t ticket, std::size_t) {
      const std::size_t other = (ticket + 1) % values.size();
      (void)other;
      values[ticket] += 1;
    });
    for (const int value : values) REQUIRE(value == round);
  }
}

TEST("team: a step computes on as many threads as it may") {
  Team team(4);
  team.begin(1, nullptr);
  const auto caller = std::this_thread::get_id();
  bool other = false;
  team.run(100, [&](std::size_t, std::size_t) { other = other || std::this_thread::get_id() != caller; });
  CHECK(!other);
}

TEST("team: an unwanted step ends between tickets, and the next step is complete") {
  Team team(3);
  std::atomic<int> computed{0};
  const std::function<bool()> unwanted = [&] { return computed.load() >= 10; };
  team.begin(3, &unwanted);
  CHECK(!team.run(100'000, [&](std::size_t, std::size_t) { ++computed; }));
  CHECK(computed.load() < 100'000);
  CHECK(team.stopped());
  CHECK(!team.run(1, [&](std::size_t, std::size_t) { ++computed; }));
  team.begin(3, nullptr);
  computed = 0;
  CHECK(team.run(1000, [&](std::size_t, std::size_t) { ++computed; }));
  CHECK_EQ(computed.load(), 1000);
}

TEST("team: ends while its threads sleep, spin or never worked") {
  for (int round = 0; round < 50; ++round) {
    Team team(4);
    team.begin(4, nullptr);
    std::atomic<int> computed{0};
    for (int i = 0; i < round % 3; ++i) team.run(20, [&](std::size_t, std::size_t) { ++computed; });
    CHECK_EQ(computed.load(), round % 3 * 20);
  }
}
