#include "lm/sampling/draft_policy.h"

#include <algorithm>
#include <cmath>

namespace lorekeep::lm {
namespace {

// Lengths to choose from: few, so that each is measured soon.
constexpr std::array<std::size_t, 6> kLengths = {1, 2, 3, 5, 9, kMaxDrafts};
// Weight of the newest measurement of time.
constexpr double kNewestTime = 0.25;
// A measurement counts at most as this multiple of the expected time, because the machine may have been busy.
constexpr double kOutlier = 2;
// Expected cost of another row, in rows, until it is measured. Low, so that it gets measured.
constexpr double kHopedCost = 0.05;
// Acceptance before anything is known, as `weight` tested tokens.
constexpr double kHopedRate = 0.6;
constexpr double kHopedWeight = 4;
// Share of the estimates that survives another verified token, and a step without drafts. The latter lets drafts that
// were too slow be tried again after some thousand tokens: another reply, or the processor, may suit them better.
constexpr double kKeptByTest = 0.97;
constexpr double kKeptByStep = 0.9995;

}  // namespace

DraftPolicy::DraftPolicy() {
  acceptance_.fill({kHopedRate * kHopedWeight, kHopedWeight});
}

double DraftPolicy::cost(std::size_t rows) const noexcept {
  if (rows <= 1) return 1;
  if (costs_[rows] > 0) return costs_[rows];
  std::size_t known = rows;
  while (known > 1 && costs_[known] == 0) --known;
  return (known > 1 ? costs_[known] : 1) + kHopedCost * static_cast<double>(rows - known);
}

double DraftPolicy::gain(std::size_t matched, std::size_t rows) const noexcept {
  const double rate = acceptance_[std::min(matched, kLongestMatch)].rate();
  double tokens = 1;
  double reached = 1;
  for (std::size_t i = 1; i < rows; ++i) tokens += reached *= rate;
  return tokens / cost(rows);
}

std::size_t DraftPolicy::length(std::size_t matched, std::size_t available) noexcept {
  if (one_row_ms_ == 0 || available == 0) return 0;
  std::size_t best = 0;
  double best_gain = kMinGain;
  for (const std::size_t length : kLengths) {
    if (length > available) break;
    const double expected = gain(matched, length + 1);
    if (expected <= best_gain) continue;
    best = length;
    best_gain = expected;
  }
  if (best == 0) forget();
  return best;
}

// Moves the estimates towards their initial values.
void DraftPolicy::forget() noexcept {
  for (std::size_t rows = 2; rows < costs_.size(); ++rows) {
    const double hoped = 1 + kHopedCost * static_cast<double>(rows - 1);
    if (costs_[rows] > hoped) costs_[rows] = hoped + kKeptByStep * (costs_[rows] - hoped);
  }
  for (Acceptance& one : acceptance_) {
    const double rate = one.rate();
    if (rate >= kHopedRate) continue;
    one.accepted = one.tested * (kHopedRate + kKeptByStep * (rate - kHopedRate));
  }
}

void DraftPolicy::learn_step(std::size_t rows, double took_ms) noexcept {
  if (!(took_ms > 0) || rows == 0 || rows >= costs_.size()) return;
  if (rows == 1) {
    if (one_row_ms_ == 0) one_row_ms_ = took_ms;
    one_row_ms_ += kNewestTime * (std::min(took_ms, kOutlier * one_row_ms_) - one_row_ms_);
    return;
  }
  if (one_row_ms_ == 0) return;
  const double measured = std::max(1.0, took_ms / one_row_ms_);
  double& known = costs_[rows];
  const double limited = std::min(measured, kOutlier * cost(rows));
  known = known == 0 ? limited : known + kNewestTime * (limited - known);
}

void DraftPolicy::learn_drafts(std::size_t matched, std::size_t drafted, std::size_t accepted) noexcept {
  Acceptance& one = acceptance_[std::min(matched, kLongestMatch)];
  // A refused token ends the test of the tokens after it.
  const std::size_t tested = std::min(drafted, accepted + 1);
  for (std::size_t i = 0; i < tested; ++i) {
    one.accepted = one.accepted * kKeptByTest + (i < accepted ? 1 : 0);
    one.tested = one.tested * kKeptByTest + 1;
  }
}

}  // namespace lorekeep::lm
