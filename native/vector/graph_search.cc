#include "vector/graph_search.h"

#include <algorithm>
#include <span>

namespace lorekeep::vector {
namespace {

constexpr std::size_t kHopsPerPoll = 16;
// Nodes that are expanded whatever the horizon: before, a search may be on its way through far nodes to near ones.
constexpr std::size_t kLeastExpanded = 8;

void prefetch_list(const std::uint32_t* list) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(list);
  __builtin_prefetch(list + 16);  // the second of the two cache lines of a list with M 16
#endif
}

std::vector<Scored> nearest_of(const CandidatePool& pool, std::size_t count) {
  std::vector<Scored> found(count);
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = {pool.distance(i), pool.node(i)};
  return found;
}

/// One search: descends the levels, scores nodes in batches and polls for cancellation.
class Walk {
 public:
  Walk(const GraphQuery& query, SearchScratch& scratch, SearchCounts& counts)
      : graph_(query.graph),
        scorer_(query.scorer),
        without_(query.without),
        cancel_(query.cancel),
        scratch_(scratch),
        counts_(counts) {
    scratch_.visited.reset(graph_.size);
    scratch_.batch.clear();
  }

  /// Searches the upper levels greedily and returns the base node to start from.
  std::uint32_t descend() {
    std::uint64_t best = CandidatePool::key_of(scorer_.distance(graph_.entry), graph_.entry);
    ++counts_.visited;
    for (std::uint32_t level = graph_.top_level; level > 0; --level) {
      for (std::uint64_t before = ~std::uint64_t{0}; best != before;) {
        before = best;
        hop();
        for (std::uint32_t next : list(graph_.upper_list(CandidatePool::node_of(best), level), graph_.upper_stride)) {
          if (next != without_) add(next);
        }
        score(
            [&](float distance, std::uint32_t node) { best = std::min(best, CandidatePool::key_of(distance, node)); });
      }
    }
    return CandidatePool::node_of(best);
  }

  /// Adds a node to the batch unless it was visited.
  void take(std::uint32_t node) {
    if (scratch_.visited.insert(node)) add(node);
  }

  /// Calls visit(distance, node) for the batch, then empties it.
  template <class Visit>
  void score(Visit&& visit) {
    auto& batch = scratch_.batch;
    counts_.visited += batch.size();
    if (scratch_.distances.size() < batch.size()) scratch_.distances.resize(batch.size());
    scorer_.distances(batch.data(), batch.size(), scratch_.distances.data());
    for (std::size_t i = 0; i < batch.size(); ++i) visit(scratch_.distances[i], batch[i]);
    batch.clear();
  }

  std::span<const std::uint32_t> neighbours(std::uint32_t node) const noexcept {
    return list(graph_.base_list(node), graph_.base_stride);
  }

  void hop() {
    if (++counts_.hops % kHopsPerPoll == 0 && cancel_ != nullptr) cancel_->check();
  }

  /// Beam search: expands the nearest unexpanded node of the pool until there is none or `end` or the horizon is
  /// reached.
  /// `gather(node)` fills the batch.
  template <class Gather>
  std::vector<Scored> expand_pool(WalkEnd* end, float horizon, Gather&& gather) {
    auto& pool = scratch_.pool;
    const auto offer = [&](float distance, std::uint32_t node) { pool.insert(distance, node); };
    score(offer);
    for (std::uint32_t node; pool.peek(node);) {
      if (pool.expanded() >= kLeastExpanded && pool.distance(pool.expanded()) > horizon) break;
      if (end != nullptr && end->reached(pool)) return nearest_of(pool, pool.expanded());
      pool.pop(node);
      hop();
      gather(node);
      std::uint32_t next;
      if (pool.peek(next)) prefetch_list(graph_.base_list(next));
      score(offer);
    }
    return nearest_of(pool, pool.size());
  }

 private:
  static std::span<const std::uint32_t> list(const std::uint32_t* first, std::size_t stride) noexcept {
    std::size_t length = 0;
    while (length < stride && first[length] != kNoNode) ++length;
    return {first, length};
  }
  void add(std::uint32_t node) {
    scorer_.prefetch(node);
    scratch_.batch.push_back(node);
  }

  const GraphView& graph_;
  const Scorer& scorer_;
  const std::uint32_t without_;
  const CancelToken* cancel_;
  SearchScratch& scratch_;
  SearchCounts& counts_;
};

}  // namespace

std::vector<Scored> search_graph(const GraphQuery& query, SearchScratch& scratch, SearchCounts& counts) {
  if (query.graph.size == 0) return {};
  Walk walk(query, scratch, counts);
  scratch.pool.reset(std::min(query.ef, query.graph.size));
  walk.take(walk.descend());
  if (query.without != kNoNode) scratch.visited.insert(query.without);
  return walk.expand_pool(query.end, query.horizon, [&](std::uint32_t node) {
    for (std::uint32_t next : walk.neighbours(node)) walk.take(next);
  });
}

}  // namespace lorekeep::vector
