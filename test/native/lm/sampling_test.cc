// Draws against the formula, which is written out here once more: penalties, top_k, top_p, min_p, temperature.
#include "lm/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "harness.h"
#include "lm/grammar/constraint.h"

using lorekeep::lm::Allowance;
using lorekeep::lm::LogProbability;
using lorekeep::lm::Sampler;
using lorekeep::lm::SamplingOptions;
using lorekeep::lm::Token;
using lorekeep::lm::TokenConstraint;

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr int kDraws = 100'000;

SamplingOptions everything() {
  SamplingOptions options;
  options.penalty_last_n = 64;
  return options;
}

std::vector<double> softmax(const std::vector<double>& logits, double temperature) {
  const double greatest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> found(logits.size());
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) sum += found[i] = std::exp((logits[i] - greatest) / temperature);
  for (double& value : found) value /= sum;
  return found;
}

// Sorts everything, as a textbook does.
std::vector<double> expected(std::vector<double> logits, const SamplingOptions& options,
                             const std::map<Token, int>& counts = {}) {
  for (const auto& [token, count] : counts) {
    double& logit = logits[static_cast<std::size_t>(token)];
    logit = logit <= 0 ? logit * options.repeat_penalty : logit / options.repeat_penalty;
    logit -= count * options.frequency_penalty + options.presence_penalty;
  }
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (options.top_k > 0) order.resize(std::min<std::size_t>(order.size(), static_cast<std::size_t>(options.top_k)));
  std::vector<double> kept;
  for (std::size_t i : order) kept.push_back(logits[i]);
  const std::vector<double> before = softmax(kept, 1);
  double sum = 0;
  std::size_t count = 0;
  while (count < kept.size() && (count == 0 || options.top_p >= 1 || sum < options.top_p)) sum += before[count++];
  while (count > 1 && before[count - 1] < options.min_p * before[0]) --count;
  kept.resize(count);
  const std::vector<double> after = softmax(kept, options.temperature);
  std::vector<double> found(logits.size(), 0);
  for (std::size_t i = 0; i < count; ++i) found[order[i]] = after[i];
  return found;
}

std::vector<float> random_logits(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = static_cast<float>(random() % 8000) / 1000.0f - 4.0f;
  return logits;
}

// Six standard deviations: one failure in 500 million fair checks.
void check_draws(const std::vector<float>& logits, const SamplingOptions& options, std::vector<Token> recent = {}) {
  Sampler sampler(options, lorekeep::test::seed());
  std::map<Token, int> counts;
  for (const Token token : recent) {
    sampler.accept(token);
    ++counts[token];
  }
  std::vector<int> drawn(logits.size(), 0);
  for (int i = 0; i < kDraws; ++i) {
    std::vector<float> copy = logits;
    ++drawn[static_cast<std::size_t>(sampler.sample(copy))];
  }
  const std::vector<double> probabilities = expected({logits.begin(), logits.end()}, options, counts);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double mean = kDraws * probabilities[i];
    const double deviation = std::sqrt(mean * (1 - probabilities[i]));
    if (probabilities[i] == 0) CHECK_EQ(drawn[i], 0);
    CHECK_NEAR(drawn[i], mean, 6 * deviation + 1);
  }
}

/// Refuses to say anything in the first of two calls, as if no work was left.
class Only final : public TokenConstraint {
 public:
  explicit Only(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  bool has(Token token) const { return std::find(tokens_.begin(), tokens_.end(), token) != tokens_.end(); }
  std::optional<bool> allows(Token token, Allowance&) override {
    if ((waits_ = !waits_)) return std::nullopt;
    return has(token);
  }
  bool prepare(Allowance&) override {
    waits_ = !waits_;
    return !waits_;
  }
  void mask(std::span<float> logits) override {
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (!has(static_cast<Token>(i))) logits[i] = kNever;
    }
  }
  void accept(Token) override {}
  bool may_end() override { return true; }

 private:
  std::vector<Token> tokens_;
  bool waits_ = false;
};

/// Calls until there is a token, and counts the calls.
Token sample(Sampler& sampler, std::span<float> logits, TokenConstraint& constraint, int& calls) {
  for (;; ++calls) {
    Allowance work;
    if (const std::optional<Token> token = sampler.sample(logits, &constraint, work)) return *token;
  }
}

}  // namespace

TEST("100,000 draws follow the temperature") {
  for (const float temperature : {0.2f, 1.0f, 3.0f}) {
    SamplingOptions options = everything();
    options.temperature = temperature;
    check_draws(random_logits(40, 1), options);
  }
}

TEST("100,000 draws follow top_k") {
  for (const std::int32_t top_k : {1, 3, 17, 400}) {
    SamplingOptions options = everything();
    options.top_k = top_k;
    check_draws(random_logits(40, 2), options);
  }
}

TEST("100,000 draws follow top_p") {
  for (const float top_p : {0.0f, 0.3f, 0.9f, 0.999f}) {
    SamplingOptions options = everything();
    options.top_p = top_p;
    check_draws(random_logits(40, 3), options);
  }
}

TEST("100,000 draws follow min_p") {
  for (const float min_p : {0.01f, 0.3f, 1.0f}) {
    SamplingOptions options = everything();
    options.min_p = min_p;
    check_draws(random_logits(40, 4), options);
  }
}

TEST("100,000 draws follow the penalties") {
  SamplingOptions options = everything();
  options.repeat_penalty = 1.5f;
  options.frequency_penalty = 0.4f;
  options.presence_penalty = 0.7f;
  check_draws(random_logits(20, 5), options, {0, 1, 1, 5, 5, 5, 19});
}

TEST("100,000 draws follow everything at once, with and without top_k") {
  SamplingOptions options = everything();
  options.temperature = 0.8f;
  options.top_k = 40;
  options.top_p = 0.95f;
  options.min_p = 0.05f;
  options.repeat_penalty = 1.1f;
  options.presence_penalty = 0.2f;
  check_draws(random_logits(600, 6), options, {3, 4, 4});
  options.top_k = 0;
  options.temperature = 1.3f;
  check_draws(random_logits(600, 6), options, {3, 4, 4});
}

TEST("temperature 0 takes the most likely token, the first among equals") {
  SamplingOptions options;
  options.temperature = 0;
  std::vector<float> logits{1, 3, 3, 2};
  CHECK_EQ(Sampler(options, 1).sample(logits), 1);
}

TEST("penalties forget tokens that are further back than penalty_last_n") {
  SamplingOptions options;
  options.temperature = 0;
  options.presence_penalty = 10;
  options.penalty_last_n = 2;
  Sampler sampler(options, 1);
  for (const Token token : {0, 1, 2}) sampler.accept(token);
  std::vector<float> logits{3, 4, 5};
  CHECK_EQ(sampler.sample(logits), 0);
}

TEST("a bias moves a token, and minus infinity excludes it") {
  SamplingOptions options;
  options.temperature = 0;
  options.biases = {{2, 5.0f}};
  std::vector<float> logits{1, 2, 0};
  CHECK_EQ(Sampler(options, 1).sample(logits), 2);
  options.biases = {{1, kNever}};
  logits = {1, 2, 0};
  CHECK_EQ(Sampler(options, 1).sample(logits), 0);
}

TEST("the same seed draws the same tokens") {
  const std::vector<float> logits = random_logits(500, 7);
  Sampler a(SamplingOptions{}, 42);
  Sampler b(SamplingOptions{}, 42);
  Sampler c(SamplingOptions{}, 43);
  int different = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<float> x = logits;
    std::vector<float> y = logits;
    std::vector<float> z = logits;
    const Token token = a.sample(x);
    CHECK_EQ(token, b.sample(y));
    different += token == c.sample(z) ? 0 : 1;
  }
  CHECK(different > 0);
}

TEST("a constraint always gets a token that it allows, or none") {
  for (const std::int32_t top_k : {0, 5}) {
    SamplingOptions options;
    options.top_k = top_k;
    Sampler sampler(options, 3);
    Only only({90, 91});
    Only nothing({});
    for (int i = 0; i < 200; ++i) {
      std::vector<float> logits = random_logits(100, 8 + static_cast<std::uint64_t>(i));
      int calls = 0;
      CHECK(only.has(sample(sampler, logits, only, calls)));
      CHECK(calls >= 1);
      logits = random_logits(100, 8);
      CHECK_EQ(sample(sampler, logits, nothing, calls), Sampler::kNone);
    }
  }
}

TEST("log-probabilities equal the softmax's, the most likely first") {
  const std::vector<float> logits = random_logits(50, 9);
  const std::vector<double> probabilities = softmax({logits.begin(), logits.end()}, 1);
  const std::vector<LogProbability> found = lorekeep::lm::log_probabilities(logits, 7, 50);
  REQUIRE(found.size() == 51);
  CHECK_EQ(found[0].token, 7);
  for (const LogProbability& one : found)
    CHECK_NEAR(one.value, std::log(probabilities[static_cast<std::size_t>(one.token)]), 1e-5);
  for (std::size_t i = 2; i < found.size(); ++i) CHECK(found[i].value <= found[i - 1].value);
}
