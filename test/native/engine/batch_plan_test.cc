#include "engine/batch_plan.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "harness.h"

using namespace lorekeep::engine;

namespace {

std::vector<Batch> plan(const std::vector<std::uint32_t>& counts, const BatchLimits& limits) {
  return plan_batches(counts, limits);
}

}  // namespace

TEST("nothing to embed makes no batches") {
  CHECK(plan({}, {256, 64, 2}).empty());
  CHECK(plan({0, 0}, {256, 64, 2}).empty());
}

TEST("short texts share a batch up to its tokens") {
  const auto batches = plan({100, 100, 100, 100}, {256, 64, 1});
  REQUIRE(batches.size() == 2);
  CHECK_EQ(batches[0].tokens, 200u);
  CHECK_EQ(batches[1].tokens, 200u);
}

TEST("a text over the budget has a batch of its own") {
  const auto batches = plan({10, 400, 10}, {256, 64, 1});
  REQUIRE(batches.size() == 2);
  CHECK_EQ(batches[0].items.size(), 1u);
  CHECK_EQ(batches[0].items[0], 1u);
  CHECK_EQ(batches[1].tokens, 20u);
}

TEST("a batch never has more texts than allowed") {
  const auto batches = plan(std::vector<std::uint32_t>(100, 1), {256, 30, 1});
  CHECK_EQ(batches.size(), 4u);
}

TEST("a small job is shared between the workers") {
  const auto batches = plan(std::vector<std::uint32_t>(32, 8), {256, 64, 4});
  REQUIRE(batches.size() == 4);
  for (const Batch& batch : batches) CHECK_EQ(batch.tokens, 64u);
}

TEST("every text is in exactly one batch, longest first, within the limits") {
  std::mt19937_64 random(lorekeep::test::seed());
  for (int round = 0; round < 200; ++round) {
    const BatchLimits limits{static_cast<std::uint32_t>(1 + random() % 600),
                             static_cast<std::uint32_t>(1 + random() % 80), 1 + random() % 8};
    std::vector<std::uint32_t> counts(random() % 300);
    for (std::uint32_t& count : counts) count = static_cast<std::uint32_t>(random() % 10 == 0 ? 0 : random() % 700);
    std::vector<int> seen(counts.size());
    std::uint32_t last = 0xFFFFFFFF;
    for (const Batch& batch : plan(counts, limits)) {
      REQUIRE(!batch.items.empty());
      std::uint32_t tokens = 0;
      for (std::uint32_t item : batch.items) {
        ++seen[item];
        tokens += counts[item];
        CHECK(counts[item] <= last);
        last = counts[item];
      }
      CHECK_EQ(tokens, batch.tokens);
      CHECK(batch.items.size() <= limits.sequences);
      CHECK(batch.items.size() == 1 || tokens <= limits.tokens);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) CHECK_EQ(seen[i], counts[i] == 0 ? 0 : 1);
  }
}
