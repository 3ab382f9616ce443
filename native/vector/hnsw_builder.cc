// The only file that uses hnswlib, for its lists, its locks and its rules for choosing neighbours. The search for a
// node's neighbours is ours: it prefetches, scores four rows at once, and holds a lock only while it copies a list.
//
// Differences from hnswlib's addPoint:
// - Elements store an ordinal, not a vector: rows stay in one aligned matrix, which the finished index shares.
// - Levels are a hash of seed and ordinal, and the node with the highest level is inserted first. So the entry never
//   changes, threads need no common lock, and levels do not depend on the order of threads.
// - All levels of a node are searched before the first is linked, and linked from the base upwards, so that a node
//   found on a level is complete below it. hnswlib holds the new node's lock during all of this instead.
#include "vector/hnsw_builder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/values/error.h"
#include "hnswlib.h"
#include "vector/scorer.h"
#include "vector/search_scratch.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kRowsPerPiece = 16;
constexpr std::size_t kRowsCopied = 1024;  // between two looks at the cancel token
constexpr std::uint64_t kTaken = ~std::uint64_t{0};
constexpr std::size_t kSerialHead = 256;  // rows inserted serially, so that threads start with a connected graph

using Workbench = hnswlib::HierarchicalNSW<float>;
using Farthest = std::priority_queue<std::pair<float, hnswlib::tableint>,
                                     std::vector<std::pair<float, hnswlib::tableint>>, Workbench::CompareByFirst>;

std::uint32_t ordinal_of(const void* element) noexcept {
  std::uint32_t ordinal;
  std::memcpy(&ordinal, element, sizeof(ordinal));
  return ordinal;
}

float f32_distance(const void* a, const void* b, const void* matrix) noexcept {
  const auto& rows = *static_cast<const VectorMatrix*>(matrix);
  return cosine_distance(kernels().dot_f32(reinterpret_cast<const float*>(rows.row(ordinal_of(a))),
                                           reinterpret_cast<const float*>(rows.row(ordinal_of(b))), rows.dimension()));
}

float i8_distance(const void* a, const void* b, const void* matrix) noexcept {
  const auto& rows = *static_cast<const VectorMatrix*>(matrix);
  const std::uint32_t i = ordinal_of(a);
  const std::uint32_t j = ordinal_of(b);
  const std::int32_t dot = kernels().dot_i8(reinterpret_cast<const std::int8_t*>(rows.row(i)),
                                            reinterpret_cast<const std::int8_t*>(rows.row(j)), rows.dimension());
  return cosine_distance(static_cast<float>(dot) * (rows.scale(i) * rows.scale(j)));
}

class OrdinalSpace : public hnswlib::SpaceInterface<float> {
 public:
  explicit OrdinalSpace(const VectorMatrix& rows) : rows_(rows) {}
  std::size_t get_data_size() override { return sizeof(std::uint32_t); }
  hnswlib::DISTFUNC<float> get_dist_func() override {
    return rows_.type() == VectorType::kI8 ? i8_distance : f32_distance;
  }
  void* get_dist_func_param() override { return const_cast<VectorMatrix*>(&rows_); }

 private:
  const VectorMatrix& rows_;
};

std::uint64_t mix(std::uint64_t value) noexcept {  // splitmix64's finaliser
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint32_t level_of(std::uint64_t seed, std::uint64_t ordinal, double per_log) noexcept {
  const double uniform = static_cast<double>((mix(mix(seed) ^ ordinal) >> 11) + 1) * 0x1p-53;  // (0, 1]
  return static_cast<std::uint32_t>(std::min(-std::log(uniform) * per_log, double{kMaxLevel}));
}

/// Returns the level of each row. The entry must be inserted first, so kept rows have the highest level.
std::vector<std::uint32_t> levels_of(std::size_t rows, const GraphParams& params, const EarlierGraph* earlier) {
  const double per_log = 1.0 / std::log(static_cast<double>(params.m));
  std::vector<std::uint32_t> levels(rows);
  std::uint32_t highest = earlier == nullptr ? kMaxLevel : 0;
  const auto is_kept = [earlier](std::size_t row) { return earlier != nullptr && earlier->earlier_of[row] != kNoNode; };
  for (std::size_t i = 0; i < rows; ++i) {
    if (!is_kept(i)) continue;
    levels[i] = earlier->graph.level_of(earlier->earlier_of[i]);
    highest = std::max(highest, levels[i]);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (!is_kept(i)) levels[i] = std::min(level_of(params.seed, i, per_log), highest);
  }
  return levels;
}

class Builder : Workbench {
 public:
  Builder(const VectorMatrix& rows, const GraphParams& params, OrdinalSpace space, const Work& work,
          const EarlierGraph* earlier)
      : Workbench(&space, rows.size(), params.m, params.ef_construction, params.seed),
        rows_(rows),
        work_(work),
        earlier_(earlier) {
    work_.check();
    const std::vector<std::uint32_t> levels = levels_of(rows.size(), params, earlier);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % kRowsCopied == 0) work_.check();
      place(i, levels[i]);
    }
    enterpoint_node_ = 0;
    for (std::uint32_t i = 1; i < rows.size(); ++i) {
      if (precedes(i, enterpoint_node_)) enterpoint_node_ = i;
    }
    maxlevel_ = element_levels_[enterpoint_node_];
  }

  /// Whether a node is linked without insert(): the entry, and rows of the earlier graph after keep().
  bool is_linked(std::uint32_t ordinal) const noexcept { return ordinal == enterpoint_node_ || is_kept(ordinal); }

  /// Gives a row of the earlier graph its links. Call it once for each, before any insert(). Thread-safe.
  void keep(std::uint32_t ordinal) {
    for (int level = 0; level <= element_levels_[ordinal]; ++level) keep_list(ordinal, level);
  }
  bool is_kept(std::uint32_t ordinal) const noexcept {
    return earlier_ != nullptr && earlier_->earlier_of[ordinal] != kNoNode;
  }

  /// Inserts a node that is not linked. Call it once. Thread-safe, with one scratch per thread.
  void insert(std::uint32_t ordinal, SearchScratch& scratch) {
    work_.check();
    const Scorer scorer(rows_, ordinal);
    const int level = element_levels_[ordinal];
    std::uint32_t nearest = enterpoint_node_;
    for (int above = maxlevel_; above > level; --above) nearest = descend(scorer, nearest, above, scratch);
    std::vector<Farthest> found(static_cast<std::size_t>(level) + 1);
    for (int at = level; at >= 0; --at) {
      walk(scorer, nearest, at, scratch);
      nearest = scratch.pool.node(0);
      auto& candidates = found[static_cast<std::size_t>(at)];
      for (std::size_t i = 0; i < scratch.pool.size(); ++i) {
        candidates.emplace(scratch.pool.distance(i), scratch.pool.node(i));
      }
    }
    for (int at = 0; at <= level; ++at) {
      mutuallyConnectNewElement(nullptr, ordinal, found[static_cast<std::size_t>(at)], at, false);
    }
  }

  Graph finish(std::size_t m) const {
    std::vector<std::uint32_t> upper_start(rows_.size() + 1, 0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      upper_start[i + 1] = upper_start[i] + static_cast<std::uint32_t>(element_levels_[i]);
    }
    Graph graph(rows_.size(), m, upper_start);
    graph.set_entry(enterpoint_node_, static_cast<std::uint32_t>(maxlevel_));
    for (std::uint32_t node = 0; node < rows_.size(); ++node) {
      if (node % kRowsCopied == 0) work_.check();
      copy_list(node, 0, graph.base_list(node));
      for (int level = 1; level <= element_levels_[node]; ++level) {
        copy_list(node, level, graph.upper_list(node, static_cast<std::uint32_t>(level)));
      }
    }
    return graph;
  }

 private:
  /// Whether `a` is the better entry: the higher, kept rows before others.
  bool precedes(std::uint32_t a, std::uint32_t b) const noexcept {
    const int above = element_levels_[a] - element_levels_[b];
    return above > 0 || (above == 0 && is_kept(a) && !is_kept(b));
  }

  std::span<const std::uint32_t> earlier_list(std::uint32_t node, int level) const noexcept {
    const GraphView& graph = earlier_->graph;
    const auto above = static_cast<std::uint32_t>(level);
    const std::uint32_t* list = level == 0 ? graph.base_list(node) : graph.upper_list(node, above);
    return {list, std::find(list, list + (level == 0 ? graph.base_stride : graph.upper_stride), kNoNode)};
  }

  /// Maps a list of the earlier graph. Neighbours that are gone are replaced by neighbours of theirs.
  void keep_list(std::uint32_t ordinal, int level) {
    std::vector<std::uint32_t> neighbours;
    std::vector<std::uint32_t> gone;
    for (const std::uint32_t node : earlier_list(earlier_->earlier_of[ordinal], level)) {
      const std::uint32_t row = earlier_->row_of[node];
      row == kNoNode ? gone.push_back(node) : neighbours.push_back(row);
    }
    std::vector<std::uint32_t> others;
    for (const std::uint32_t node : gone) {
      for (const std::uint32_t next : earlier_list(node, level)) {
        const std::uint32_t row = earlier_->row_of[next];
        if (row != kNoNode && row != ordinal) others.push_back(row);
      }
    }
    if (!others.empty()) replace(ordinal, gone.size(), neighbours, others);
    write_list(ordinal, level, neighbours);
  }

  /// Adds up to `count` of the others: first rows that are nearer to the row than to its neighbours, as hnswlib
  /// chooses, then the nearest.
  void replace(std::uint32_t ordinal, std::size_t count, std::vector<std::uint32_t>& neighbours,
               std::vector<std::uint32_t>& others) const {
    std::vector<std::uint64_t> nearest;
    for (const std::uint32_t row : others) {
      if (std::find(neighbours.begin(), neighbours.end(), row) != neighbours.end()) continue;
      nearest.push_back(CandidatePool::key_of(distance(ordinal, row), row));
    }
    std::sort(nearest.begin(), nearest.end());
    nearest.erase(std::unique(nearest.begin(), nearest.end()), nearest.end());
    const std::size_t wanted = neighbours.size() + count;
    for (const bool apart : {true, false}) {
      for (std::uint64_t& key : nearest) {
        if (neighbours.size() == wanted) return;
        if (key == kTaken || (apart && !is_apart(key, neighbours, ordinal))) continue;
        neighbours.push_back(CandidatePool::node_of(key));
        key = kTaken;
      }
    }
  }

  bool is_apart(std::uint64_t key, const std::vector<std::uint32_t>& neighbours, std::uint32_t ordinal) const {
    const std::uint32_t row = CandidatePool::node_of(key);
    const float from_row = distance(ordinal, row);
    return std::none_of(neighbours.begin(), neighbours.end(),
                        [&](std::uint32_t other) { return distance(row, other) < from_row; });
  }

  float distance(std::uint32_t a, std::uint32_t b) const {
    return fstdistfunc_(getDataByInternalId(a), getDataByInternalId(b), dist_func_param_);
  }

  void write_list(std::uint32_t ordinal, int level, const std::vector<std::uint32_t>& neighbours) {
    const std::size_t count = std::min(neighbours.size(), level == 0 ? maxM0_ : maxM_);
    hnswlib::linklistsizeint* list = get_linklist_at_level(ordinal, level);
    setListCount(list, static_cast<unsigned short>(count));
    std::copy_n(neighbours.begin(), count, list + 1);
  }

  void place(std::size_t ordinal, std::uint32_t level) {
    char* element = data_level0_memory_ + ordinal * size_data_per_element_;
    std::memset(element, 0, size_data_per_element_);
    const auto id = static_cast<std::uint32_t>(ordinal);
    std::memcpy(element + offsetData_, &id, sizeof(id));
    if (level > 0) {
      linkLists_[ordinal] = static_cast<char*>(std::calloc(level, size_links_per_element_));
      if (linkLists_[ordinal] == nullptr) fail(Code::kOutOfMemory, "out of memory: a graph's upper levels");
    }
    element_levels_[ordinal] = static_cast<int>(level);
    ++cur_element_count;  // so that hnswlib's destructor frees the list
  }

  /// Puts the neighbours of the node that this search has not visited into scratch.batch.
  void gather(std::uint32_t node, int level, const Scorer& scorer, SearchScratch& scratch) {
    scratch.batch.clear();
    std::lock_guard lock(link_list_locks_[node]);
    const hnswlib::linklistsizeint* list = get_linklist_at_level(node, level);
    const std::size_t count = *reinterpret_cast<const unsigned short*>(list);
    for (std::size_t i = 1; i <= count; ++i) {
      if (!scratch.visited.insert(list[i])) continue;
      scorer.prefetch(list[i]);
      scratch.batch.push_back(list[i]);
    }
  }

  std::uint32_t descend(const Scorer& scorer, std::uint32_t from, int level, SearchScratch& scratch) {
    scratch.visited.reset(rows_.size());
    std::uint64_t best = CandidatePool::key_of(scorer.distance(from), from);
    for (;;) {
      const std::uint64_t before = best;
      gather(CandidatePool::node_of(best), level, scorer, scratch);
      score(scorer, scratch);
      for (std::size_t i = 0; i < scratch.batch.size(); ++i) {
        best = std::min(best, CandidatePool::key_of(scratch.distances[i], scratch.batch[i]));
      }
      if (best == before) return CandidatePool::node_of(best);
    }
  }

  void walk(const Scorer& scorer, std::uint32_t from, int level, SearchScratch& scratch) {
    scratch.visited.reset(rows_.size());
    scratch.pool.reset(ef_construction_);
    scratch.visited.insert(from);
    scratch.pool.insert(scorer.distance(from), from);
    for (std::uint32_t node; scratch.pool.pop(node);) {
      gather(node, level, scorer, scratch);
      score(scorer, scratch);
      for (std::size_t i = 0; i < scratch.batch.size(); ++i) {
        scratch.pool.insert(scratch.distances[i], scratch.batch[i]);
      }
    }
  }

  static void score(const Scorer& scorer, SearchScratch& scratch) {
    if (scratch.distances.size() < scratch.batch.size()) scratch.distances.resize(scratch.batch.size());
    scorer.distances(scratch.batch.data(), scratch.batch.size(), scratch.distances.data());
  }

  void copy_list(std::uint32_t node, int level, std::uint32_t* to) const {
    const hnswlib::linklistsizeint* list = get_linklist_at_level(node, level);
    const std::size_t count = *reinterpret_cast<const unsigned short*>(list);
    std::copy_n(list + 1, count, to);
  }

  const VectorMatrix& rows_;
  const Work& work_;
  const EarlierGraph* const earlier_;
};

/// Counts rows of all threads and reports progress every 1 %.
class Meter {
 public:
  Meter(std::size_t total, const BuildProgress& report)
      : total_(total), step_(std::max<std::size_t>(1, total / 100)), report_(report) {}

  void add(std::size_t rows) {
    const std::size_t done = done_.fetch_add(rows) + rows;
    if (!report_ || (done != total_ && done / step_ == (done - rows) / step_)) return;
    std::lock_guard lock(mutex_);
    if (done <= reported_) return;
    reported_ = done;
    report_(done, total_);
  }

 private:
  const std::size_t total_;
  const std::size_t step_;
  const BuildProgress& report_;
  std::atomic<std::size_t> done_{0};
  std::mutex mutex_;
  std::size_t reported_ = 0;
};

void check_params(const VectorMatrix& rows, const GraphParams& params) {
  const auto refuse = [](const char* name, std::size_t value, std::size_t least, std::size_t most) {
    fail(Code::kInvalidArgument,
         std::string(name) + " is " + std::to_string(value) + ": between " + std::to_string(least) + " and " +
             std::to_string(most) + " is possible",
         {{name, static_cast<std::int64_t>(value)}});
  };
  if (params.m < kMinM || params.m > kMaxM) refuse("m", params.m, kMinM, kMaxM);
  if (params.ef_construction < 1 || params.ef_construction > kMaxEfConstruction) {
    refuse("ef_construction", params.ef_construction, 1, kMaxEfConstruction);
  }
  if (rows.type() == VectorType::kF16) fail(Code::kInternal, "graphs are built on f32 or i8 rows");
}

Graph build(const VectorMatrix& rows, const GraphParams& params, const Work& work, const BuildProgress& progress,
            const EarlierGraph* earlier) {
  Builder builder(rows, params, OrdinalSpace(rows), work, earlier);
  parallel_for(work, earlier == nullptr ? 0 : rows.size(), kRowsPerPiece,
               [&](std::size_t begin, std::size_t end, std::size_t) {
                 for (auto i = static_cast<std::uint32_t>(begin); i < end; ++i) {
                   if (builder.is_kept(i)) builder.keep(i);
                 }
               });
  std::vector<SearchScratch> scratches(std::max<std::size_t>(1, work.workers));
  Meter meter(rows.size(), progress);
  const auto insert = [&](std::size_t begin, std::size_t end, std::size_t worker) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto ordinal = static_cast<std::uint32_t>(i);
      if (!builder.is_linked(ordinal)) builder.insert(ordinal, scratches[worker]);
    }
    meter.add(end - begin);
  };
  const std::size_t head = earlier == nullptr ? std::min(kSerialHead, rows.size()) : 0;
  parallel_for(work.alone(), head, kRowsPerPiece, insert);
  parallel_for(work, rows.size() - head, kRowsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    insert(head + begin, head + end, worker);
  });
  return builder.finish(params.m);
}

}  // namespace

Graph build_graph(const VectorMatrix& rows, const GraphParams& params, const Work& work, const BuildProgress& progress,
                  const EarlierGraph* earlier) {
  check_params(rows, params);
  if (rows.size() == 0) return Graph(0, params.m, std::vector<std::uint32_t>(1, 0));
  try {
    return build(rows, params, work, progress, earlier);
  } catch (const std::bad_alloc&) {
    fail(Code::kOutOfMemory, "out of memory: a graph of " + std::to_string(rows.size()) + " rows",
         {{"rows", static_cast<std::int64_t>(rows.size())}});
  }
}

}  // namespace lorekeep::vector
