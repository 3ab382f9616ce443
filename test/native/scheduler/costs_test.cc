#include "scheduler/costs.h"

#include <algorithm>

#include "harness.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;

/// A chunk that begins at a position.
PromptWork chunk(std::uint32_t tokens, std::uint32_t position = 0) {
  PromptWork work;
  work.add(tokens, position);
  return work;
}

constexpr PromptWork kNothing;

TEST("before the first measurement, a chunk beside a stream has 64 tokens") {
  const Costs costs;
  CHECK_EQ(costs.decode_ms(1), 0.0);
  CHECK_EQ(costs.prefill_ms(chunk(100)), 0.0);
  CHECK_EQ(costs.tokens_within(1, kNothing, 0, 500), 64u);
  CHECK_EQ(costs.tokens_within(1, kNothing, 0, 10), 10u);
}

TEST("costs approach what is measured") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    costs.learn(1, kNothing, 12);
    costs.learn(0, chunk(100), 200);
  }
  CHECK_NEAR(costs.decode_ms(1), 12, 0.01);
  CHECK_NEAR(costs.prefill_ms(chunk(100)), 200, 0.1);
  CHECK_EQ(costs.tokens_within(200.5, kNothing, 0, 500), 100u);
  CHECK_EQ(costs.tokens_within(200.5, chunk(20), 20, 500), 80u);
  CHECK_EQ(costs.tokens_within(200.5, kNothing, 0, 7), 7u);
  CHECK_EQ(costs.tokens_within(-5, kNothing, 0, 500), 0u);
}

TEST("decodes between two measured counts cost what lies between") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    costs.learn(1, kNothing, 10);
    costs.learn(6, kNothing, 28);
  }
  for (std::uint32_t count = 2; count < 6; ++count) CHECK(costs.decode_ms(count) > costs.decode_ms(count - 1));
  CHECK(costs.decode_ms(50) > costs.decode_ms(6));
}

TEST("a batch that was slow the first time is expected to take no longer than each of its tokens alone") {
  Costs costs;
  for (int i = 0; i < 40; ++i) costs.learn(1, kNothing, 10);
  costs.learn(2, kNothing, 500);
  CHECK(costs.decode_ms(2) <= 20);
  for (int i = 0; i < 60; ++i) costs.learn(2, kNothing, 90);
  CHECK_NEAR(costs.decode_ms(3), 90, 20);
}

TEST("a prompt pays for what a mixed step takes beyond its decodes") {
  Costs costs;
  for (int i = 0; i < 40; ++i) costs.learn(1, kNothing, 10);
  for (int i = 0; i < 40; ++i) costs.learn(1, chunk(50), 110);
  CHECK_NEAR(costs.prefill_ms(chunk(50)), 100, 0.1);
}

TEST("one slow step does not spoil an estimate, and lasting slowness is learned") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    costs.learn(1, kNothing, 10);
    costs.learn(0, chunk(64), 10);
  }
  costs.learn(1, kNothing, 10'000);
  costs.learn(0, chunk(64), 10'000);
  CHECK(costs.decode_ms(1) <= 15);
  CHECK(costs.prefill_ms(chunk(64)) <= 20);
  for (int i = 0; i < 40; ++i) {
    costs.learn(1, kNothing, 100);
    costs.learn(0, chunk(64), 100);
  }
  CHECK_NEAR(costs.decode_ms(1), 100, 1);
  CHECK_NEAR(costs.prefill_ms(chunk(64)), 100, 5);
}

/// A machine on which a token takes 0.25 ms, and 0.25 more per thousand tokens before it.
double true_ms(const PromptWork& work) {
  return 0.25 * work.tokens + 0.00025 * work.depth;
}

void run_prompt(Costs& costs, std::uint32_t tokens, std::uint32_t most) {
  for (std::uint32_t at = 0; at < tokens; at += most) {
    const PromptWork work = chunk(std::min(most, tokens - at), at);
    costs.learn(0, work, true_ms(work));
  }
}

/// Runs a prompt in chunks that are planned for a budget. Returns the longest.
double longest_chunk(Costs& costs, std::uint32_t tokens, double budget_ms) {
  double longest = 0;
  for (std::uint32_t at = 0; at < tokens;) {
    const std::uint32_t count = costs.tokens_within(budget_ms, kNothing, at, std::min(512u, tokens - at));
    CHECK(count > 0);
    const PromptWork work = chunk(count, at);
    costs.learn(0, work, true_ms(work));
    longest = std::max(longest, true_ms(work));
    at += count;
  }
  return longest;
}

TEST("chunks keep to their budget at every depth, whichever prompts ran before") {
  for (const std::uint32_t before : {256u, 64u, 17u}) {
    for (const double budget : {10.0, 45.0, 200.0}) {
      Costs costs;
      run_prompt(costs, 4000, before);
      run_prompt(costs, 64, 64);
      run_prompt(costs, 9, 9);
      CHECK(longest_chunk(costs, 4000, budget) <= 1.1 * budget);
      CHECK(longest_chunk(costs, 4000, budget) <= 1.1 * budget);
    }
  }
}

TEST("what was learned of short prompts holds for long ones") {
  Costs costs;
  for (int i = 0; i < 10; ++i) run_prompt(costs, 64, 64);
  CHECK(longest_chunk(costs, 4000, 45) <= 1.25 * 45);
}

TEST("a machine that becomes busy makes chunks of all sizes smaller at once") {
  Costs costs;
  for (const std::uint32_t most : {256u, 64u, 16u}) run_prompt(costs, 4000, most);
  const std::uint32_t calm = costs.tokens_within(45, kNothing, 0, 500);
  for (int i = 0; i < 4; ++i) costs.learn(0, chunk(100, 1000), 3 * true_ms(chunk(100, 1000)));
  const std::uint32_t busy = costs.tokens_within(45, kNothing, 0, 500);
  CHECK(busy < 0.5 * calm);
}

TEST("a surprise is what a step with prompts took beyond its expected time, and fades") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    costs.learn(1, kNothing, 10);
    costs.learn(1, chunk(50), 60);
  }
  CHECK_NEAR(costs.surprise_ms(), 0, 0.5);
  costs.learn(1, kNothing, 500);
  CHECK_NEAR(costs.surprise_ms(), 0, 0.5);
  costs.learn(1, chunk(50), 90);
  CHECK_NEAR(costs.surprise_ms(), 25, 8);
  for (int i = 0; i < 60; ++i) costs.learn(1, chunk(50), 60);
  CHECK(costs.surprise_ms() > 10);
  for (int i = 0; i < 600; ++i) costs.learn(1, chunk(50), 60);
  CHECK(costs.surprise_ms() < 1);
}

}  // namespace
