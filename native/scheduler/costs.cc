#include "scheduler/costs.h"

#include <algorithm>
#include <bit>

#include "scheduler/settings.h"

namespace lorekeep::scheduler {

namespace {

/// Weight of the newest measurement.
constexpr double kNewest = 0.25;

/// Share of a surprise that is still expected a step later: of one step in sixty that takes longer, more than half.
constexpr double kSurpriseKept = 0.99;

/// A prompt is charged at least this part of its share, by tokens, of a mixed step.
constexpr double kMinShare = 0.75;

std::size_t bucket_of(std::uint32_t tokens, std::size_t buckets) noexcept {
  const auto width = static_cast<std::size_t>(std::bit_width(std::max(tokens, 1u)));
  return std::min(width - 1, buckets - 1);
}

/// The mean count of a bucket.
double middle_of(std::size_t bucket) noexcept {
  return 1.5 * static_cast<double>(1u << bucket) - 0.5;
}

/// `most`: upper bound of the first measurement; 0: unlimited.
void average(double& entry, double measured, double most) noexcept {
  if (entry == 0) {
    entry = most > 0 ? std::min(measured, most) : measured;
  } else {
    entry += kNewest * (std::min(measured, kOutlier * entry) - entry);
  }
}

}  // namespace

double Costs::decode_ms(std::uint32_t count) const noexcept {
  if (count == 0) return 0;
  std::size_t below = kBuckets;
  std::size_t above = kBuckets;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (decode_[i] == 0) continue;
    if (middle_of(i) <= count) below = i;
    if (middle_of(i) >= count && above == kBuckets) above = i;
  }
  if (below == kBuckets) return above == kBuckets ? 0 : decode_[above];
  // Unknown, so the worst: each token takes as long as in the smaller batch.
  if (above == kBuckets) return decode_[below] * count / middle_of(below);
  if (above == below) return decode_[below];
  const double way = (count - middle_of(below)) / (middle_of(above) - middle_of(below));
  return decode_[below] + way * (decode_[above] - decode_[below]);
}

std::uint32_t Costs::tokens_within(double budget_ms, const PromptWork& planned, std::uint32_t position,
                                   std::uint32_t limit) const noexcept {
  if (!prompts_.known()) return std::min(limit, kChunkFloor);
  return prompts_.tokens_within(budget_ms, planned, position, limit);
}

void Costs::learn(std::uint32_t decodes, const PromptWork& prompts, double took_ms) noexcept {
  if (!(took_ms > 0)) return;
  if (prompts.tokens == 0) {
    // A batch takes no longer than each of its tokens alone.
    if (decodes > 0) average(decode_[bucket_of(decodes, kBuckets)], took_ms, decode_ms(decodes));
    return;
  }
  if (prompts_.known()) {
    const double expected = decode_ms(decodes) + prompts_.ms(prompts);
    surprise_ms_ = std::max(std::min(took_ms, kOutlier * expected) - expected, kSurpriseKept * surprise_ms_);
  }
  // Decodes with prompts may take less than alone, and less than is known: prompts have a share of the step by
  // tokens.
  const double share = prompts.tokens / (prompts.tokens + decodes);
  prompts_.learn(prompts, std::max(took_ms - decode_ms(decodes), kMinShare * share * took_ms));
}

}  // namespace lorekeep::scheduler
