#include "scheduler/prompt_cost.h"

#include <algorithm>
#include <cmath>

namespace lorekeep::scheduler {

namespace {

/// Weight that a step keeps with each later one.
constexpr double kKept = 0.98;
/// Share of a step's surprise, in logarithms, that the next one is expected to repeat. Most of it is noise: with a
/// half, noise of a step adds noise to the next one's size.
constexpr double kDriftGain = 0.25;
/// Largest factor between the last steps and the fit.
constexpr double kMaxDrift = 8;
/// Before steps at several depths are known, the time of a token is expected to double at this depth.
constexpr double kUsualDepth = 8192;
/// Weight of this expectation, in steps.
constexpr double kUsualWeight = 1.0 / 64;

}  // namespace

void PromptWork::add(std::uint32_t count, std::uint32_t position) noexcept {
  tokens += count;
  depth += count * (position + count / 2.0);
}

double PromptCost::ms(const PromptWork& work) const noexcept {
  return drift_ * (token_ms_ * work.tokens + depth_ms_ * work.depth);
}

std::uint32_t PromptCost::tokens_within(double budget_ms, const PromptWork& planned, std::uint32_t position,
                                        std::uint32_t limit) const noexcept {
  const double left = budget_ms - ms(planned);
  if (!(left > 0)) return 0;
  // square * n^2 + linear * n = left
  const double square = drift_ * depth_ms_ / 2;
  const double linear = drift_ * (token_ms_ + depth_ms_ * position);
  const double tokens = 2 * left / (linear + std::sqrt(linear * linear + 4 * square * left));
  return tokens < limit ? static_cast<std::uint32_t>(tokens) : limit;
}

void PromptCost::learn(const PromptWork& work, double took_ms) noexcept {
  const double expected = ms(work);
  if (expected > 0) {
    took_ms = std::min(took_ms, kOutlier * expected);
    drift_ *= std::pow(std::max(took_ms / expected, 1 / kOutlier), kDriftGain);
    drift_ = std::clamp(drift_, 1 / kMaxDrift, kMaxDrift);
  }
  fit(work.tokens / took_ms, work.depth / took_ms);
}

void PromptCost::fit(double tokens, double depth) noexcept {
  Sums& sums = sums_;
  sums.tokens_tokens = kKept * sums.tokens_tokens + tokens * tokens;
  sums.tokens_depth = kKept * sums.tokens_depth + tokens * depth;
  sums.depth_depth = kKept * sums.depth_depth + depth * depth;
  sums.tokens = kKept * sums.tokens + tokens;
  sums.depth = kKept * sums.depth + depth;
  const double usual = kUsualWeight * tokens * tokens;
  const double tokens_tokens = sums.tokens_tokens + usual;
  const double tokens_depth = sums.tokens_depth - usual * kUsualDepth;
  const double depth_depth = sums.depth_depth + usual * kUsualDepth * kUsualDepth;
  const double determinant = tokens_tokens * depth_depth - tokens_depth * tokens_depth;
  token_ms_ = (sums.tokens * depth_depth - sums.depth * tokens_depth) / determinant;
  depth_ms_ = (tokens_tokens * sums.depth - tokens_depth * sums.tokens) / determinant;
  if (depth_ms_ < 0) {
    depth_ms_ = 0;
    token_ms_ = sums.tokens / sums.tokens_tokens;
  } else if (token_ms_ < 0) {
    token_ms_ = 0;
    depth_ms_ = sums.depth / sums.depth_depth;
  }
}

}  // namespace lorekeep::scheduler
