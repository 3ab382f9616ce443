// The search of an HNSW graph, apart from where graph and vectors come from. The same input gives the same result; ties
// go by ordinal.
#pragma once

#include <cstddef>
#include <vector>

#include "core/cancel_token.h"
#include "core/top_k.h"
#include "vector/graph.h"
#include "vector/scorer.h"
#include "vector/search_scratch.h"
#include "vector/walk_end.h"

namespace lorekeep::vector {

struct SearchCounts {
  std::size_t visited = 0;  // distances computed, of whatever precision
  std::size_t hops = 0;     // nodes whose neighbours were looked at
};

struct GraphQuery {
  const GraphView& graph;
  const Scorer& scorer;
  std::size_t ef;                       // width of the search, at least 1
  const CancelToken* cancel = nullptr;  // polled every 16 hops
  WalkEnd* end = nullptr;               // null: where the nearest `ef` are all expanded
};

/// Up to `ef` near rows, nearest first; those alone that are expanded where `end` ended the walk.
std::vector<Scored> search_graph(const GraphQuery& query, SearchScratch& scratch, SearchCounts& counts);

}  // namespace lorekeep::vector
