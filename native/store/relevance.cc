#include "store/relevance.h"

#include <algorithm>
#include <cmath>

#include "store/score_fusion.h"

namespace lorekeep::store {
namespace {

/// Coefficients of logistic regressions, fitted by tools/fusion/relevance.py. Scores are normalised as in
/// score_fusion.h.
struct Dense {
  double constant;
  double above;  // cosine on a scale from the background's floor, 0, to 1
  double dense;  // normalised score
};
struct DenseWithWords {
  double constant;
  double above;
  double dense;
  double coverage;
};
struct Lexical {
  double constant;
  double coverage;  // BM25 score by its limit
  double lexical;   // normalised score
  double words;     // logarithm of their number: a query of few words is covered easily
};
struct Hybrid {
  double constant;
  double above;
  double coverage;
  double lexical;
  double lead;           // of the cosine over the next record, or below the best one
  double coverage_lead;  // the same of the BM25 score
};

constexpr Dense kDense{-13.92, 11.75, 6.91};
constexpr DenseWithWords kDenseWithWords{-13.72, 7.88, 7.33, 4.97};
constexpr Lexical kLexical{-9.03, 9.74, 3.17, 1.32};
constexpr Hybrid kHybrid{-6.10, 7.07, 1.19, 1.21, 1.68, 7.81};

/// A record may answer in words other than the query's, so the estimate by cosines counts if it is larger than the one
/// with words by `margin`. The larger of two estimates is biased upwards by `bias`.
struct OtherWords {
  double margin;
  double bias;

  double larger(double by_cosine, double with_words) const noexcept {
    return std::max(by_cosine - margin, with_words) - bias;
  }
};
constexpr OtherWords kInDense{0, 0.40};
constexpr OtherWords kInHybrid{0.5, 0.36};

/// Returns by how much the best value exceeds the next one; for another value, by how much less than the best it is.
double lead(double value, double best, double next) noexcept {
  return value >= best ? value - next : value - best;
}

double log_odds(const RelevanceScale& scale, float distance, float bm25) noexcept {
  const Background& background = scale.background;
  const ScoreScale scores{background.mean, scale.best_cosine, scale.best_bm25};
  const bool has_words = scale.bm25_limit > 0;
  const double cosine = 1.0 - static_cast<double>(distance);
  const double range = std::max(1 - background.floor, kMinCosineRange);
  const double above = (cosine - background.floor) / range;
  // Boosts may lift a score over the limit.
  const double coverage = has_words ? std::min(static_cast<double>(bm25) / scale.bm25_limit, 1.0) : 0;
  if (scale.mode == Mode::kLexical) {
    const double words = std::log(static_cast<double>(std::max<std::size_t>(scale.words, 1)));
    return kLexical.constant + kLexical.coverage * coverage + kLexical.lexical * scores.lexical(bm25) +
           kLexical.words * words;
  }
  const double dense = scores.dense(distance);
  const double by_cosine = kDense.constant + kDense.above * above + kDense.dense * dense;
  if (!has_words) return by_cosine;
  if (scale.mode == Mode::kDense) {
    return kInDense.larger(by_cosine, kDenseWithWords.constant + kDenseWithWords.above * above +
                                          kDenseWithWords.dense * dense + kDenseWithWords.coverage * coverage);
  }
  const double leads = kHybrid.lead * lead(cosine, scale.best_cosine, scale.next_cosine) / range +
                       kHybrid.coverage_lead * lead(bm25, scale.best_bm25, scale.next_bm25) / scale.bm25_limit;
  return kInHybrid.larger(by_cosine, kHybrid.constant + kHybrid.above * above + kHybrid.coverage * coverage +
                                         kHybrid.lexical * scores.lexical(bm25) + leads);
}

}  // namespace

double relevance_of(const RelevanceScale& scale, float distance, float bm25) noexcept {
  const auto [offset, slope] = scale.calibration;
  return 1 / (1 + std::exp(-(offset + slope * log_odds(scale, distance, bm25))));
}

}  // namespace lorekeep::store
