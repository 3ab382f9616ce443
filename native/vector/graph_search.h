// Searches of an HNSW graph, apart from where graph and vectors come from. All of them give the same result for the
// same input, and break ties by ordinal.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/bitmap.h"
#include "core/cancel_token.h"
#include "core/top_k.h"
#include "vector/graph.h"
#include "vector/scorer.h"
#include "vector/search_scratch.h"

namespace lorekeep::vector {

struct SearchWork {
  std::size_t visited = 0;  // distances computed, of whatever precision
  std::size_t hops = 0;     // nodes whose neighbours were looked at
};

struct GraphQuery {
  const GraphView& graph;
  const Scorer& scorer;
  std::size_t ef;                       // width of the search, at least 1
  const CancelToken* cancel = nullptr;  // polled every 64 hops
};

/// Up to `ef` near rows, nearest first.
std::vector<Scored> search_graph(const GraphQuery& query, SearchScratch& scratch, SearchWork& work);

/// Up to `ef` near members of `filter` (graph.size bits, `share` of them set): the plain walk, which passes through all
/// rows and keeps members. Its cost grows with 1 / share. Nothing when the rows near the query hold far fewer members
/// than `share`: the members that it would meet first are then those beside its way, not the nearest.
std::optional<std::vector<Scored>> search_graph_filtered(const GraphQuery& query, const Bitmap& filter, double share,
                                                         SearchScratch& scratch, SearchWork& work);

}  // namespace lorekeep::vector
