// Calibrated relevance of hits, comparable between queries. See docs/concepts/relevance.md.
#pragma once

#include <cstddef>

#include "store/background.h"
#include "store/search.h"

namespace lorekeep::store {

/// Inputs of the relevance of a hit besides its raw scores.
struct RelevanceScale {
  Mode mode = Mode::kDense;
  Background background;   // dense, hybrid
  double best_cosine = 0;  // of the candidates: dense, hybrid
  double best_bm25 = 0;    // of the candidates: lexical, hybrid
  double next_cosine = 0;  // the greatest below the best: hybrid
  double next_bm25 = 0;
  double bm25_limit = 0;  // text::TextQuery::limit(); 0: no words
  std::size_t words = 0;  // distinct ones of the query: lexical
  Calibration calibration;
};

/// Returns the probability, in [0, 1], that a record with these raw scores is relevant. It never falls if a score
/// rises. In lexical mode the distance is ignored, and for a query without words the BM25 score.
double relevance_of(const RelevanceScale& scale, float distance, float bm25) noexcept;

}  // namespace lorekeep::store
