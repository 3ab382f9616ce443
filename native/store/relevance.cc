#include "store/relevance.h"

#include <algorithm>
#include <cmath>

#include "store/score_fusion.h"

namespace lorekeep::store {
namespace {

/// Coefficients of a logistic regression, fitted by tools/fusion/fit.py on training collections. The output of that
/// program has the same order: the constant, then those of a mode from top to bottom.
struct Coefficients {
  double constant;
  double deviations;  // of the cosine from the background, in standard deviations
  double coverage;    // BM25 score by its limit
  double dense;       // normalised as in score_fusion.h
  double lexical;     // normalised as in score_fusion.h
};

constexpr Coefficients kDense{-23.14, 0.54, 0, 19.90, 0};
constexpr Coefficients kLexical{-10.19, 0, 4.36, 0, 8.02};
constexpr Coefficients kHybrid{-18.04, 0.16, 2.98, 12.22, 4.18};

/// Least standard deviation: a storage of few or equal records has none of its own.
constexpr double kLeastDeviation = 0.02;

const Coefficients& coefficients_of(Mode mode) noexcept {
  return mode == Mode::kDense ? kDense : mode == Mode::kLexical ? kLexical : kHybrid;
}

}  // namespace

double relevance_of(const RelevanceScale& scale, float distance, float bm25) noexcept {
  const Coefficients& by = coefficients_of(scale.mode);
  const ScoreScale scores{scale.background.mean, scale.best_cosine, scale.best_bm25};
  double sum = by.constant;
  if (scale.mode != Mode::kLexical) {
    const double above = 1.0 - static_cast<double>(distance) - scale.background.mean;
    sum += by.deviations * above / std::max(scale.background.deviation, kLeastDeviation);
    sum += by.dense * scores.dense(distance);
  }
  if (scale.mode != Mode::kDense && scale.bm25_limit > 0) {
    // Boosts may lift a score over the limit.
    sum += by.coverage * std::min(static_cast<double>(bm25) / scale.bm25_limit, 1.0);
    sum += by.lexical * scores.lexical(bm25);
  }
  return 1 / (1 + std::exp(-sum));
}

}  // namespace lorekeep::store
