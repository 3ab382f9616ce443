#include "store/score_fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lorekeep::store {
namespace {

/// Used by adapted_weight(): the distance of the tenth cosine from the first, as a share of the range of the first 50.
constexpr std::size_t kTenth = 9;
constexpr std::size_t kFiftieth = 49;
constexpr double kUsualFall = 0.66;  // mean over the training queries
constexpr double kOddsOfFall = 1.5;  // logarithm of the odds per unit of the fall

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

double cosine_of(float distance) noexcept {
  return 1.0 - static_cast<double>(distance);
}

bool by_score(const FusedByScore& a, const FusedByScore& b) {
  return a.score != b.score ? a.score > b.score : a.ordinal < b.ordinal;
}

/// Returns the records of both lists in order of their ordinals.
std::vector<FusedByScore> unite(std::span<const Scored> dense, std::span<const Scored> lexical) {
  std::vector<FusedByScore> all;
  all.reserve(dense.size() + lexical.size());
  std::uint32_t rank = 0;
  for (const Scored& found : dense) {
    all.push_back({found.ordinal, 0, 0, 0, ++rank, std::nullopt, found.score, kUnknown});
  }
  rank = 0;
  for (const Scored& found : lexical) {
    all.push_back({found.ordinal, 0, 0, 0, std::nullopt, ++rank, kUnknown, found.score});
  }
  std::sort(all.begin(), all.end(), [](const FusedByScore& a, const FusedByScore& b) { return a.ordinal < b.ordinal; });
  std::size_t kept = 0;
  for (const FusedByScore& one : all) {
    if (kept > 0 && all[kept - 1].ordinal == one.ordinal) {
      FusedByScore& both = all[kept - 1];
      if (one.dense_rank) both.dense_rank = one.dense_rank, both.distance = one.distance;
      if (one.lexical_rank) both.lexical_rank = one.lexical_rank, both.bm25 = one.bm25;
    } else {
      all[kept++] = one;
    }
  }
  all.resize(kept);
  return all;
}

/// Sets an unknown raw score of the records for which wanted() holds.
template <class Wanted>
void complete(std::vector<FusedByScore>& all, float FusedByScore::* value, const ScoredLeg& leg, Wanted&& wanted) {
  std::vector<std::size_t> places;
  std::vector<std::uint32_t> ordinals;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!std::isnan(all[i].*value) || !wanted(all[i])) continue;
    places.push_back(i);
    ordinals.push_back(all[i].ordinal);
  }
  if (ordinals.empty()) return;
  std::vector<float> scores(ordinals.size());
  leg.score(ordinals, scores);
  for (std::size_t i = 0; i < places.size(); ++i) all[places[i]].*value = scores[i];
}

class Fuser {
 public:
  Fuser(std::vector<FusedByScore> all, const ScoreFusion& fusion, std::size_t top_k)
      : all_(std::move(all)), fusion_(fusion), top_k_(std::min(top_k, all_.size())) {
    scale_.background = fusion.background;
  }

  std::vector<FusedByScore> run(const ScoredLeg& dense, const ScoredLeg& lexical) && {
    if (fusion_.dense_weight > 0) {
      complete(all_, &FusedByScore::distance, dense, [](const FusedByScore&) { return true; });
      scale_dense();
    }
    if (fusion_.dense_weight < 1) {
      scale_lexical();
      const double least = least_score();
      complete(all_, &FusedByScore::bm25, lexical, [&](const FusedByScore& one) { return bound_of(one) >= least; });
      scale_lexical();
    }
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(top_k_);
    std::partial_sort(all_.begin(), end, all_.end(), by_score);
    all_.erase(end, all_.end());
    return std::move(all_);
  }

 private:
  void scale_dense() {
    double best = -1;
    for (const FusedByScore& one : all_) best = std::max(best, cosine_of(one.distance));
    scale_.best_cosine = best;
    for (FusedByScore& one : all_) {
      one.dense = scale_.dense(one.distance);
      add_up(one);
    }
  }

  void scale_lexical() {
    for (const FusedByScore& one : all_) {
      if (!std::isnan(one.bm25)) scale_.best_bm25 = std::max(scale_.best_bm25, static_cast<double>(one.bm25));
    }
    for (FusedByScore& one : all_) {
      if (!std::isnan(one.bm25)) one.lexical = scale_.lexical(one.bm25);
      add_up(one);
    }
  }

  void add_up(FusedByScore& one) const noexcept {
    one.score = fusion_.dense_weight * one.dense + (1 - fusion_.dense_weight) * one.lexical;
  }

  /// Returns the largest possible score of a record of unknown BM25 score.
  double bound_of(const FusedByScore& one) const noexcept {
    const double lexical = scale_.lexical(static_cast<float>(fusion_.lexical_bound));
    return fusion_.dense_weight * one.dense + (1 - fusion_.dense_weight) * lexical;
  }

  /// Returns a lower bound of the last returned score: the score if unknown BM25 scores were 0.
  double least_score() const {
    if (top_k_ == 0) return std::numeric_limits<double>::infinity();
    std::vector<double> scores;
    scores.reserve(all_.size());
    for (const FusedByScore& one : all_) scores.push_back(one.score);
    const auto last = scores.begin() + static_cast<std::ptrdiff_t>(top_k_ - 1);
    std::nth_element(scores.begin(), last, scores.end(), std::greater<>());
    return *last;
  }

  std::vector<FusedByScore> all_;
  const ScoreFusion& fusion_;
  std::size_t top_k_;
  ScoreScale scale_;
};

}  // namespace

double ScoreScale::dense(float distance) const noexcept {
  const double range = std::max(1 - background, kMinCosineRange);
  return std::clamp(1 - (best_cosine - cosine_of(distance)) / range, 0.0, 1.0);
}

double ScoreScale::lexical(float bm25) const noexcept {
  return best_bm25 > 0 ? std::clamp(static_cast<double>(bm25) / best_bm25, 0.0, 1.0) : 0.0;
}

double adapted_weight(double weight, std::span<const Scored> dense) noexcept {
  if (dense.size() <= kFiftieth) return weight;
  const double first = dense.front().score;
  const double range = dense[kFiftieth].score - first;
  if (!(range > 0)) return weight;
  const double fall = (dense[kTenth].score - first) / range;
  const double odds = weight / (1 - weight) * std::exp(kOddsOfFall * (fall - kUsualFall));
  return odds / (1 + odds);
}

std::vector<FusedByScore> fuse_by_score(const ScoredLeg& dense, const ScoredLeg& lexical, const ScoreFusion& fusion,
                                        std::size_t top_k) {
  return Fuser(unite(dense.found, lexical.found), fusion, top_k).run(dense, lexical);
}

}  // namespace lorekeep::store
