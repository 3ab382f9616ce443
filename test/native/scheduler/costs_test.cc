#include "scheduler/costs.h"

#include <algorithm>

#include "harness.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::scheduler;

TEST("before the first measurement, a chunk beside a stream has 64 tokens") {
  const Costs costs;
  CHECK_EQ(costs.decode_ms(1), 0.0);
  CHECK_EQ(costs.prefill_ms(100), 0.0);
  CHECK_EQ(costs.tokens_within(1, 0, 500), 64u);
  CHECK_EQ(costs.tokens_within(1, 0, 10), 10u);
}

TEST("costs approach what is measured") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    costs.learn(1, 0, 12);
    costs.learn(0, 100, 200);
  }
  CHECK_NEAR(costs.decode_ms(1), 12, 0.01);
  CHECK_NEAR(costs.prefill_ms(100), 200, 0.1);
  CHECK_EQ(costs.tokens_within(100.1, 0, 500), 50u);
  CHECK_EQ(costs.tokens_within(100.1, 20, 500), 30u);
  CHECK_EQ(costs.tokens_within(100.1, 0, 7), 7u);
  CHECK_EQ(costs.tokens_within(-5, 0, 500), 0u);
}

TEST("decodes between two measured counts cost what lies between") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    costs.learn(1, 0, 10);
    costs.learn(6, 0, 28);
  }
  for (std::uint32_t count = 2; count < 6; ++count) CHECK(costs.decode_ms(count) > costs.decode_ms(count - 1));
  CHECK(costs.decode_ms(50) > costs.decode_ms(6));
}

TEST("a prompt pays for what a mixed step takes beyond its decodes") {
  Costs costs;
  for (int i = 0; i < 40; ++i) costs.learn(1, 0, 10);
  for (int i = 0; i < 40; ++i) costs.learn(1, 50, 110);
  CHECK_NEAR(costs.prefill_ms(50), 100, 0.1);
}

TEST("one slow step does not spoil an estimate, and lasting slowness is learned") {
  Costs costs;
  for (int i = 0; i < 40; ++i) costs.learn(1, 0, 10);
  costs.learn(1, 0, 10'000);
  CHECK(costs.decode_ms(1) <= 15);
  for (int i = 0; i < 40; ++i) costs.learn(1, 0, 100);
  CHECK_NEAR(costs.decode_ms(1), 100, 1);
}

TEST("chunks whose tokens are dearer are skipped where a larger budget would fit cheaper ones") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    costs.learn(0, 20, 100);   // 5 ms each
    costs.learn(0, 100, 200);  // 2 ms each
  }
  CHECK_EQ(costs.tokens_within(260, 0, 500), 130u);
  CHECK_EQ(costs.tokens_within(60, 0, 500), 12u);
  // 40 tokens would be affordable at 2 ms, but they cost 5 in a chunk below 64.
  CHECK_EQ(costs.tokens_within(80, 0, 500), 16u);
}

TEST("chunks that did not run since the context was short are expected to take longer, too") {
  Costs costs;
  for (int i = 0; i < 40; ++i) {
    for (const std::uint32_t tokens : {20u, 50u, 100u, 200u, 400u}) costs.learn(0, tokens, 0.3 * tokens);
  }
  CHECK_EQ(costs.tokens_within(45, 0, 500), 150u);
  // Deeper, each token takes three times as long. Every chunk is as long as its predecessors allow.
  double longest_after_five = 0;
  for (int i = 0; i < 12; ++i) {
    const std::uint32_t tokens = costs.tokens_within(45, 0, 500);
    costs.learn(0, tokens, 0.9 * tokens);
    if (i >= 5) longest_after_five = std::max(longest_after_five, 0.9 * tokens);
  }
  CHECK(longest_after_five <= 50);
  // And back, with a new prompt.
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t tokens = costs.tokens_within(45, 0, 500);
    costs.learn(0, tokens, 0.3 * tokens);
  }
  CHECK(costs.tokens_within(45, 0, 500) >= 130);
}

}  // namespace
