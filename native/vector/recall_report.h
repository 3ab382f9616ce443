// Measures the recall of an index on its own rows, each left out of its own search, with and without filters.
#pragma once

#include <cstddef>
#include <vector>

#include "core/threads/work.h"
#include "vector/vector_index.h"

namespace lorekeep::vector {

/// Which rows a filter of a measurement keeps.
enum class TriedFilter {
  kNone,
  kRandom,  // any rows
  kNear,    // the rows nearest to the query's anchor, one of four rows
  kFar,     // the farthest
};

struct RecallCell {
  TriedFilter filter;
  double share;    // of the rows that the filter keeps
  double recall;   // mean share of the true nearest rows that were found
  std::size_t ef;  // smallest tried width with a recall of 0.99 or more, if the default's is less; 0: none reached it
  bool enough;     // the default's recall is 0.99 or more
};

struct RecallOptions {
  std::size_t k = 10;
  std::size_t ef = 0;  // as in SearchOptions: the default to measure
  std::size_t queries = 64;
  Work work = {};
};

/// Takes about 8 exact searches per query, and more where recall is low. Grain of cancellation: one query.
std::vector<RecallCell> report_recall(const VectorIndex& index, const RecallOptions& options);

}  // namespace lorekeep::vector
