// The search of an HNSW graph, independent of the source of graph and vectors. Deterministic; ties go by ordinal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "vector/candidate_pool.h"
#include "vector/graph.h"
#include "vector/scorer.h"
#include "vector/search_plan.h"
#include "vector/search_scratch.h"

namespace lorekeep::vector {

// Ends a filtered graph search. Rows that do not match take part in it, so the required width is known only during it.
class WalkEnd {
 public:
  /// Ends once the k nearest of the filter's `matched` rows are found, with `margin_rows` expanded rows beyond them,
  /// over which distances grow (search_plan.h).
  WalkEnd(const Bitmap& filter, std::size_t matched, std::size_t k, std::size_t margin_rows) noexcept
      : filter_(filter),
        share_(static_cast<double>(matched) / static_cast<double>(filter.size())),
        k_(k),
        margin_rows_(margin_rows),
        next_look_(std::min(kFirstLook, k + margin_rows)) {}

  /// Returns whether the search may end; called before each expansion. Measured on 100,000 clustered rows, half of them
  /// matching at random: 110 hops instead of 170 for a width that always suffices.
  bool reached(const CandidatePool& pool) noexcept {
    const std::size_t expanded = pool.expanded();
    if (expanded < next_look_) return false;
    std::size_t members = 0;
    std::size_t rank = 0;  // of the k-th matching row
    while (rank < expanded && members < k_) members += filter_.test(pool.node(rank++)) ? 1 : 0;
    if (members == k_) {
      const std::size_t enough = rank + margin_rows_;
      next_look_ = std::max(enough, expanded + kStep);
      return expanded >= enough && (margin_rows_ == 0 || distances_grow(pool.distance(rank - 1), rank,
                                                                        pool.distance(expanded - 1), expanded));
    }
    next_look_ = std::max(expanded + kFirstLook, k_ + margin_rows_);
    return shunned(static_cast<double>(members), static_cast<double>(expanded));
  }

 private:
  static constexpr std::size_t kFirstLook = 32;
  static constexpr std::size_t kStep = 8;
  // The search will be unsound if at most this share of the expected number of rows match near the query, provided that
  // the expected number is large enough to judge.
  static constexpr double kShunnedShare = 0.125;
  static constexpr double kMinExpected = 8;

  bool shunned(double members, double expanded) const noexcept {
    const double expected = share_ * expanded;
    return expected >= kMinExpected && members <= kShunnedShare * expected;
  }

  const Bitmap& filter_;
  double share_;
  std::size_t k_;
  std::size_t margin_rows_;
  std::size_t next_look_;
};

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
  /// Ends also when all nodes up to this distance are expanded.
  float horizon = std::numeric_limits<float>::infinity();
};

/// Returns up to `ef` near rows, nearest first; only the expanded ones if `end` ended the search.
std::vector<Scored> search_graph(const GraphQuery& query, SearchScratch& scratch, SearchCounts& counts);

}  // namespace lorekeep::vector
