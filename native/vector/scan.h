// Exact search: every row that may match is looked at.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/bitmap.h"
#include "core/top_k.h"
#include "core/work.h"
#include "vector/codes.h"
#include "vector/graph_search.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

struct ScanQuery {
  const VectorMatrix& rows;
  const Codes* codes = nullptr;  // of the same rows: makes the scan faster, never different
  std::span<const float> query;
  std::size_t k;
  const Bitmap* filter = nullptr;  // of rows.size() bits; null: all rows
  Work work = {};                  // shares a long scan; cancellation is polled every 1024 rows
};

/// The k nearest rows, nearest first, ties by ordinal, however many threads took part. Throws as Scorer does for the
/// query.
std::vector<Scored> scan(const ScanQuery& query, SearchCounts& counts);

}  // namespace lorekeep::vector
