#include "lm/sampling/draft_policy.h"

#include <random>

#include "harness.h"

using lorekeep::lm::DraftPolicy;
using lorekeep::lm::kMaxDrafts;

namespace {

constexpr std::size_t kMatched = 4;

/// A machine where another row costs `row` of the first, and drafts of which each token is right with `rate`.
struct Machine {
  double row;
  double rate;
  double one_row_ms = 10;
};

struct Outcome {
  double gain;         // tokens by time, against steps of one row
  std::size_t drafts;  // tokens drafted
};

Outcome run(DraftPolicy& policy, const Machine& machine, int steps, std::mt19937_64& random) {
  double tokens = 0;
  double ms = 0;
  std::size_t drafts = 0;
  std::bernoulli_distribution right(machine.rate);
  for (int step = 0; step < steps; ++step) {
    const std::size_t length = policy.length(kMatched, kMaxDrafts);
    const double took = machine.one_row_ms * (1 + machine.row * static_cast<double>(length));
    std::size_t accepted = 0;
    while (accepted < length && right(random)) ++accepted;
    policy.learn_step(1 + length, took);
    if (length > 0) policy.learn_drafts(kMatched, length, accepted);
    tokens += 1 + static_cast<double>(accepted);
    ms += took;
    drafts += length;
  }
  return {tokens / (ms / machine.one_row_ms), drafts};
}

}  // namespace

TEST("nothing is drafted before a step was measured, or without a match") {
  DraftPolicy policy;
  CHECK_EQ(policy.length(kMatched, kMaxDrafts), 0u);
  policy.learn_step(1, 10);
  CHECK(policy.length(kMatched, kMaxDrafts) > 0);
  CHECK_EQ(policy.length(0, 0), 0u);
}

TEST("where rows are cheap and drafts are right, long ones are drafted") {
  std::mt19937_64 random(lorekeep::test::seed());
  DraftPolicy policy;
  const Outcome outcome = run(policy, {0.05, 0.95}, 1000, random);
  CHECK(outcome.gain > 4);
  CHECK(policy.length(kMatched, kMaxDrafts) >= 9);
  CHECK(policy.length(kMatched, 3) <= 3);
}

TEST("where a row costs as much as a step, or drafts are wrong, almost nothing is drafted") {
  std::mt19937_64 random(lorekeep::test::seed());
  for (const Machine machine : {Machine{1, 0.9}, Machine{0.2, 0.05}, Machine{0.6, 0.4}}) {
    DraftPolicy policy;
    const Outcome outcome = run(policy, machine, 5000, random);
    CHECK(outcome.gain > 0.92);
    CHECK(outcome.drafts < 1500);
  }
}

TEST("drafts that did not pay are tried again, and used once they pay") {
  std::mt19937_64 random(lorekeep::test::seed());
  DraftPolicy policy;
  run(policy, {0.3, 0.05}, 2000, random);
  CHECK(run(policy, {0.05, 0.95}, 3000, random).gain > 2);
}

TEST("one slow measurement does not end drafts") {
  std::mt19937_64 random(lorekeep::test::seed());
  DraftPolicy policy;
  run(policy, {0.05, 0.9}, 200, random);
  policy.learn_step(1 + kMaxDrafts, 10'000);
  CHECK(policy.length(kMatched, kMaxDrafts) > 0);
}

TEST("the acceptance of short matches does not count for long ones") {
  DraftPolicy policy;
  policy.learn_step(1, 10);
  for (int i = 0; i < 50; ++i) policy.learn_drafts(2, 3, 0);
  CHECK_EQ(policy.length(2, kMaxDrafts), 0u);
  CHECK(policy.length(8, kMaxDrafts) > 0);
}
