// Fusion of the two legs of a hybrid search by normalised scores. See docs/concepts/search.md.
//
//   dense   = 1 - (best cosine - cosine) / (1 - background)     in [0, 1]
//   lexical = BM25 score / best BM25 score                      in [0, 1]
//   score   = weight * dense + (1 - weight) * lexical
//
// After Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval (ACM TOIS 2023), who divide by a range
// that starts at the least possible cosine, -1. The background is the mean cosine of the query and sampled records: the
// least cosine that occurs, whatever range the model's cosines have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/values/top_k.h"

namespace lorekeep::store {

/// Minimum range of cosines above the background: all records may be equal.
inline constexpr double kMinCosineRange = 0.05;

/// Maps raw scores of one query to [0, 1].
struct ScoreScale {
  double background = 0;   // mean cosine of the query and sampled records
  double best_cosine = 1;  // of the candidates
  double best_bm25 = 0;    // of the candidates; 0: no candidate contains a word of the query

  double dense(float distance) const noexcept;
  double lexical(float bm25) const noexcept;
};

struct FusedByScore {
  std::uint32_t ordinal;
  double score;
  double dense;                             // normalised
  double lexical;                           // normalised
  std::optional<std::uint32_t> dense_rank;  // from 1
  std::optional<std::uint32_t> lexical_rank;
  float distance;
  float bm25;
};

/// Returns the weight for one query. It rises if the cosines of the dense leg fall steeply after the first, and sinks
/// if they fall slowly: then the model hardly separates the records. Learned by tools/fusion/fit.py. Preconditions: 0
/// < weight < 1; `dense` is best first.
double adapted_weight(double weight, std::span<const Scored> dense) noexcept;

/// One leg: its list, best first, without duplicate ordinals, and the raw scores of other records.
struct ScoredLeg {
  std::span<const Scored> found;
  /// Sets scores[i] to the distance or the BM25 score of ordinals[i].
  std::function<void(std::span<const std::uint32_t> ordinals, std::span<float> scores)> score;
};

struct ScoreFusion {
  double dense_weight = 0.5;  // in [0, 1]
  double background = 0;      // see ScoreScale
  /// Largest BM25 score of a record that the lexical leg did not find: the leg's last score if the leg is full, else 0.
  double lexical_bound = 0;
};

/// Returns the top_k records of both lists, best first, ties by ordinal. A record that only one leg found has the
/// exact score of the other leg. A leg of weight 0 is not asked for scores of records that it did not find.
std::vector<FusedByScore> fuse_by_score(const ScoredLeg& dense, const ScoredLeg& lexical, const ScoreFusion& fusion,
                                        std::size_t top_k);

}  // namespace lorekeep::store
