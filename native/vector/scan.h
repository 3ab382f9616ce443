// Exact search over all matching rows.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "core/threads/work.h"
#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "vector/codes.h"
#include "vector/graph_search.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

struct ScanQuery {
  const VectorMatrix& rows;
  const Codes* codes = nullptr;  // of the same rows; speeds the scan up without changing its result
  std::span<const float> query;
  std::size_t k;
  const Bitmap* filter = nullptr;                        // of rows.size() bits; null: all rows
  Work work = {};                                        // shares a long scan; cancellation is polled every 1024 rows
  float limit = std::numeric_limits<float>::infinity();  // rows farther than this are left out
};

/// Returns the k nearest rows within the limit, nearest first, ties by ordinal, independent of the number of threads.
/// Throws as Scorer.
std::vector<Scored> scan(const ScanQuery& query, SearchCounts& counts);

}  // namespace lorekeep::vector
