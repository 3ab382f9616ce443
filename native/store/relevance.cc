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
};

constexpr Dense kDense{-10.86, 12.17, 3.88};
constexpr DenseWithWords kDenseWithWords{-9.79, 9.86, 3.05, 4.30};
constexpr Lexical kLexical{-9.03, 9.74, 3.17, 1.32};
constexpr Hybrid kHybrid{-8.22, 8.94, 0.98, 3.75};

/// A record may answer in words other than the query's, so the estimate by cosines counts if it is larger than the one
/// with words by `lead`. The larger of two is too large by `excess`.
struct OtherWords {
  double lead;
  double excess;

  double larger(double by_cosine, double with_words) const noexcept {
    return std::max(by_cosine - lead, with_words) - excess;
  }
};
constexpr OtherWords kInDense{0, 0.21};
constexpr OtherWords kInHybrid{0.5, 0.07};

/// Least range of cosines above the floor: all records may be equal.
constexpr double kLeastRange = 0.05;

double log_odds(const RelevanceScale& scale, float distance, float bm25) noexcept {
  const Background& background = scale.background;
  const ScoreScale scores{background.mean, scale.best_cosine, scale.best_bm25};
  const bool has_words = scale.bm25_limit > 0;
  const double cosine = 1.0 - static_cast<double>(distance);
  const double above = (cosine - background.floor) / std::max(1 - background.floor, kLeastRange);
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
  return kInHybrid.larger(by_cosine, kHybrid.constant + kHybrid.above * above + kHybrid.coverage * coverage +
                                         kHybrid.lexical * scores.lexical(bm25));
}

}  // namespace

double relevance_of(const RelevanceScale& scale, float distance, float bm25) noexcept {
  return 1 / (1 + std::exp(-log_odds(scale, distance, bm25)));
}

}  // namespace lorekeep::store
