// The search of an HNSW graph, independent of the source of graph and vectors. Deterministic; ties go by ordinal.
#pragma once

#include <cstddef>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/top_k.h"
#include "vector/graph.h"
#include "vector/scorer.h"
#include "vector/search_scratch.h"
#include "vector/walk_end.h"

namespace lorekeep::vector {

struct SearchCounts {
  std::size_t visited = 0;  // distances computed, of any precision
  std::size_t hops = 0;     // nodes expanded
};

struct GraphQuery {
  const GraphView& graph;
  const Scorer& scorer;
  std::size_t ef;                       // width of the search, at least 1
  const CancelToken* cancel = nullptr;  // polled every 16 hops
  std::uint32_t without = kNoNode;      // a node that is not visited, unless it is the entry
  WalkEnd* end = nullptr;               // null: end when the nearest `ef` are all expanded
};

/// Returns up to `ef` near rows, nearest first; only the expanded ones if `end` ended the search.
std::vector<Scored> search_graph(const GraphQuery& query, SearchScratch& scratch, SearchCounts& counts);

}  // namespace lorekeep::vector
