#include "lm/model/thread_choice.h"

#include <algorithm>

#include "harness.h"

using lorekeep::lm::ThreadChoice;

namespace {

/// Computes `steps` steps of `rows` rows, of which each takes `ms(threads)` for each of them alone; returns the total
/// in ms.
template <class Cost>
double run(ThreadChoice& choice, int steps, std::size_t rows, std::uint32_t most, const Cost& cost) {
  double total = 0;
  for (int i = 0; i < steps; ++i) {
    std::uint32_t threads = choice.threads(rows, most);
    CHECK(threads >= 1 && threads <= most);
    for (;;) {
      const double patience = threads > 1 ? choice.patience_ms(rows, threads) : 0;
      const double took = cost(threads) * (rows < 8 ? 1 : static_cast<double>(rows));
      const bool complete = patience == 0 || took <= patience;
      choice.learn(rows, threads, complete ? took : patience, complete);
      total += complete ? took : patience;
      if (complete) break;
      threads = std::max(1u, threads / 2);
    }
  }
  return total;
}

double calm(std::uint32_t threads) {
  return 40.0 / threads;
}

// Each of several threads loses its core again and again.
double crowded(std::uint32_t threads) {
  return threads == 1 ? 100 : 5'000;
}

}  // namespace

TEST("on a calm machine, all threads compute, and others are rarely tried") {
  for (const std::uint32_t most : {1u, 2u, 3u, 8u, 100u}) {
    for (const std::size_t rows : {1u, 64u}) {
      ThreadChoice choice;
      const double total = run(choice, 3000, rows, most, calm);
      const double best = 3000 * calm(most) * (rows < 8 ? 1 : static_cast<double>(rows));
      CHECK(total < 1.02 * best);
    }
  }
}

TEST("a number of threads that is tried is told from the usual one") {
  ThreadChoice choice;
  choice.learn(1, 1, 100, true);
  run(choice, 1000, 1, 8, crowded);
  std::uint32_t trials = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t threads = choice.threads(1, 8);
    CHECK_EQ(choice.tries(threads), threads != 1);
    trials += choice.tries(threads) ? 1 : 0;
    choice.learn(1, threads, crowded(threads), true);
  }
  CHECK(trials > 0);
  run(choice, 1000, 1, 8, calm);
  CHECK(!choice.tries(8));
}

TEST("where threads hold each other up, few compute, and no step waits long for more") {
  ThreadChoice choice;
  choice.learn(1, 1, 100, true);
  const double total = run(choice, 1000, 1, 8, crowded);
  CHECK(total < 1000 * 100 * 1.1);
  CHECK_EQ(choice.threads(1, 8), 1u);
}

TEST("the number follows the machine") {
  ThreadChoice choice;
  run(choice, 200, 1, 2, calm);
  CHECK(run(choice, 500, 1, 2, crowded) < 500 * 100 * 1.2);
  run(choice, 2000, 1, 2, calm);
  CHECK(run(choice, 1000, 1, 2, calm) < 1000 * calm(2) * 1.05);
}

TEST("a batch of rows is not given up before it could have ended row by row") {
  ThreadChoice choice;
  choice.learn(1, 1, 10, true);
  CHECK(choice.patience_ms(500, 4) >= 500 * 10);
  CHECK_EQ(choice.patience_ms(500, 1), 0.0);
}

TEST("a context that gets deeper, and a short one after it, change nothing on a calm machine") {
  ThreadChoice choice;
  double total = 0;
  double best = 0;
  for (int prompt = 0; prompt < 20; ++prompt) {
    for (int chunk = 0; chunk < 30; ++chunk) {
      // The last rows of a prompt take eight times as long as the first.
      const double depth = 1 + chunk * 7 / 29.0;
      total += run(choice, 1, 128, 2, [depth](std::uint32_t threads) { return depth * calm(threads) / 10; });
      best += depth * calm(2) / 10 * 128;
    }
    run(choice, 40, 1, 2, calm);
  }
  CHECK(total < 1.05 * best);
}

TEST("batches compute with the threads of replies") {
  ThreadChoice choice;
  choice.learn(1, 1, 100, true);
  run(choice, 50, 1, 8, crowded);
  CHECK_EQ(choice.threads(1, 8), 1u);
  CHECK_EQ(choice.threads(500, 8), 1u);
}

TEST("replies that come and go change nothing on a calm machine") {
  ThreadChoice choice;
  double total = 0;
  double best = 0;
  // A step of several rows takes longer than one of a single row with fewer threads.
  for (int turn = 0; turn < 30; ++turn) {
    for (const std::size_t rows : {std::size_t{1}, std::size_t{4}, std::size_t{2}}) {
      const double times = rows == 1 ? 1 : 2.5;
      total += run(choice, 60, rows, 2, [times](std::uint32_t threads) { return times * calm(threads); });
      best += 60 * times * calm(2);
    }
  }
  CHECK(total < 1.05 * best);
}

TEST("replies whose context gets deeper change nothing on a calm machine") {
  ThreadChoice choice;
  double total = 0;
  double best = 0;
  for (int reply = 0; reply < 30; ++reply) {
    for (const double depth : {1.0, 2.0, 4.0}) {
      total += run(choice, 60, 1, 4, [depth](std::uint32_t threads) { return depth * calm(threads); });
      best += 60 * depth * calm(4);
    }
  }
  CHECK(total < 1.1 * best);
}
