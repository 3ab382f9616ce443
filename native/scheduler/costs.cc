#include "scheduler/costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "scheduler/settings.h"

namespace lorekeep::scheduler {

namespace {

/// Weight of the newest measurement.
constexpr double kNewest = 0.25;
/// A measurement counts at most as this multiple of the expected time, because the machine may have been busy.
constexpr double kOutlier = 3;

std::size_t bucket_of(std::uint32_t tokens, std::size_t buckets) noexcept {
  const auto width = static_cast<std::size_t>(std::bit_width(std::max(tokens, 1u)));
  return std::min(width - 1, buckets - 1);
}

/// The mean count of a bucket.
double middle_of(std::size_t bucket) noexcept {
  return 1.5 * static_cast<double>(1u << bucket) - 0.5;
}

void average(double& entry, double measured) noexcept {
  if (entry == 0) {
    entry = measured;
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

double Costs::per_token(std::size_t bucket) const noexcept {
  // A token costs no more in a larger chunk, so that a large chunk that was slow once is tried again.
  double least = 0;
  for (std::size_t i = 0; i <= bucket; ++i) {
    if (prefill_[i] > 0 && (least == 0 || prefill_[i] < least)) least = prefill_[i];
  }
  if (least > 0) return drift_ * least;
  for (std::size_t above = bucket + 1; above < kBuckets; ++above) {
    if (prefill_[above] > 0) return drift_ * prefill_[above];
  }
  return 0;
}

double Costs::prefill_ms(std::uint32_t tokens) const noexcept {
  return tokens == 0 ? 0 : tokens * per_token(bucket_of(tokens, kBuckets));
}

std::uint32_t Costs::tokens_within(double budget_ms, std::uint32_t planned, std::uint32_t limit) const noexcept {
  const std::uint32_t most = planned + limit;
  for (std::size_t bucket = bucket_of(most, kBuckets) + 1; bucket-- > 0;) {
    const double each = per_token(bucket);
    if (each == 0) return std::min(limit, kChunkFloor);
    const std::uint32_t first = std::max(1u << bucket, planned + 1);
    const std::uint32_t last = bucket + 1 == kBuckets ? most : std::min((2u << bucket) - 1, most);
    const double affordable = budget_ms / each;
    if (affordable >= first && first <= last) {
      return static_cast<std::uint32_t>(std::min(affordable, static_cast<double>(last))) - planned;
    }
    if (first == planned + 1) break;
  }
  return 0;
}

void Costs::learn(std::uint32_t decodes, std::uint32_t prefill_tokens, double took_ms) noexcept {
  if (!(took_ms > 0)) return;
  if (prefill_tokens == 0) {
    if (decodes > 0) average(decode_[bucket_of(decodes, kBuckets)], took_ms);
    return;
  }
  // Of a mixed step, at least a tenth belongs to the prompts.
  const double prompts = std::max(took_ms - decode_ms(decodes), took_ms / 10);
  const double each = prompts / prefill_tokens;
  double& entry = prefill_[bucket_of(prefill_tokens, kBuckets)];
  // Half of the surprise, in logarithms, is drift.
  if (entry > 0) drift_ *= std::sqrt(std::clamp(each / (drift_ * entry), 1 / kOutlier, kOutlier));
  average(entry, each / drift_);
}

}  // namespace lorekeep::scheduler
