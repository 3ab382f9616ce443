// Queries for measuring an index on its own rows.
#pragma once

#include <cstddef>
#include <vector>

#include "core/work.h"
#include "vector/vector_index.h"

namespace lorekeep::vector {

/// Returns at most `count` queries. Each is a row moved by half the difference of two of its 32 nearest rows: a point
/// that could be another row. The result depends on the index only. Grain of cancellation: one query.
std::vector<std::vector<float>> sample_queries(const VectorIndex& index, std::size_t count, const Work& work);

}  // namespace lorekeep::vector
