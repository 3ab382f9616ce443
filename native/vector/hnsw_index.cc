#include "vector/hnsw_index.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "vector/cell_scan.h"
#include "vector/graph_search.h"
#include "vector/scan.h"
#include "vector/search_plan.h"

namespace lorekeep::vector {

namespace {

// After so many steps of a search by cells, a thousand rows or more, what they have found says how much is left. After
// the first one it says at most how much.
constexpr std::size_t kStepOfChoice = 2;

// Of the most that a code can be off, which would need an error that points to the query. Errors lie in all directions
// alike, so a standard deviation is that over the square root of the dimension: a quarter is two of them at 64
// dimensions, five at 384. A search by cells allows for it twice.
constexpr float kShareOfCodeError = 0.25f;

/// Drops what the filter does not let through; returns whether the k nearest of the rest can be trusted.
bool keep_members(const Bitmap& filter, std::size_t k, std::size_t ef, std::vector<Scored>& found) {
  std::size_t members = 0;
  std::size_t rank = 0;  // of the k-th member
  for (std::size_t i = 0; i < found.size() && members < k; ++i) {
    if (filter.test(found[i].ordinal) && ++members == k) rank = i + 1;
  }
  if (members < k || !walk_is_sound(found, rank, ef - k)) return false;
  std::erase_if(found, [&filter](const Scored& row) { return !filter.test(row.ordinal); });
  return true;
}

}  // namespace

std::shared_ptr<const HnswIndex> HnswIndex::build(std::span<const float> rows, std::size_t dimension,
                                                  const HnswParams& params, const Work& work,
                                                  const BuildProgress& progress) {
  HnswParts parts;
  parts.params = params;
  parts.rows = VectorMatrix::encode(rows, dimension, params.type, work);
  const bool long_enough = params.type != VectorType::kI8 && dimension >= kLeastCodedDimension;
  if (params.type == VectorType::kI10 || long_enough) {
    parts.codes = encode_codes(parts.rows, work);
  }
  if (!parts.codes.empty() && parts.rows.size() >= kLeastCelledRows) {
    parts.cells = Cells::build(parts.codes.matrix, work);
    if (long_enough && dimension >= kLeastSketchedDimension) {
      parts.sketches = Sketches::encode(parts.rows, parts.cells, work);
    }
  }
  // A graph wants distances between rows, for which f16 has no kernel: short f16 rows take part as f32.
  const bool widen = parts.codes.empty() && params.type == VectorType::kF16;
  const VectorMatrix wide = widen ? VectorMatrix::encode(rows, dimension, VectorType::kF32, work) : VectorMatrix();
  const VectorMatrix& ground = widen ? wide : parts.codes.empty() ? parts.rows : parts.codes.matrix;
  parts.graph = build_graph(ground, params, work, progress);
  return std::make_shared<const HnswIndex>(std::move(parts));
}

std::size_t HnswIndex::memory_bytes() const noexcept {
  const Graph& graph = parts_.graph;
  const VectorMatrix& codes = parts_.codes.matrix;
  const bool apart = type() != VectorType::kI10;
  return parts_.rows.bytes() + (apart ? codes.bytes() : 0) + parts_.cells.bytes() + parts_.sketches.bytes() +
         graph.base_values().size_bytes() + graph.upper_start_values().size_bytes() + graph.upper_values().size_bytes();
}

std::vector<float> HnswIndex::row(std::size_t ordinal) const {
  check_ordinal(ordinal);
  std::vector<float> values(dimension());
  parts_.rows.decode(ordinal, values.data());
  return values;
}

SearchResult HnswIndex::search(std::span<const float> query, const SearchOptions& options) const {
  SearchResult result;
  VectorPlan& plan = result.plan;
  plan.matched = check_options(options);
  const std::size_t wanted = std::min(options.k, plan.matched);
  const std::size_t ef = options.ef == 0 ? default_ef(options.k) : std::max(options.ef, options.k);
  const std::size_t width = filtered_ef(size(), plan.matched, ef, options.k);
  SearchCounts counts;
  const bool celled = options.path != SearchPath::kExact && this->celled(plan.matched);
  plan.path = options.path;
  if (plan.path == SearchPath::kAuto) {
    const bool scanned = scan_is_better(size(), plan.matched, width);
    plan.path = celled ? SearchPath::kCells : scanned ? SearchPath::kExact : SearchPath::kGraph;
  }
  if (plan.path == SearchPath::kGraph) {
    result.hits = walk(query, options, plan.matched, ef, width, counts);
    if (result.hits.size() < wanted) plan.path = celled ? SearchPath::kCells : SearchPath::kExact;
  }
  if (plan.path == SearchPath::kCells) result.hits = search_cells(query, options, ef, width, plan, counts);
  if (plan.path == SearchPath::kExact) result.hits = scan_all(query, options, counts);
  plan.exact = plan.path == SearchPath::kExact;
  plan.visited = counts.visited;
  plan.hops = counts.hops;
  return result;
}

Bitmap HnswIndex::to_cell_order(const Bitmap& filter, const CancelToken* cancel) const {
  check_filter(filter);
  return celled(filter.count()) ? parts_.cells.to_cell_order(filter, cancel) : Bitmap();
}

std::vector<Scored> HnswIndex::scan_all(std::span<const float> query, const SearchOptions& options,
                                        SearchCounts& counts) const {
  const Codes* codes = parts_.codes.empty() ? nullptr : &parts_.codes;
  return scan({parts_.rows, codes, query, options.k, options.filter, options.work}, counts);
}

std::vector<Scored> HnswIndex::search_cells(std::span<const float> query, const SearchOptions& options, std::size_t ef,
                                            std::size_t width, VectorPlan& plan, SearchCounts& counts) const {
  const Scorer codes(parts_.codes.matrix, query);
  const Bitmap* const in_cell_order =
      options.filter_in_cell_order != nullptr && options.filter_in_cell_order->size() > 0 ? options.filter_in_cell_order
                                                                                          : nullptr;
  const bool sketched = !parts_.sketches.empty() && SketchQuery::fast();
  const CellQuery cells{parts_.cells,
                        parts_.graph.view(),
                        sketched ? &parts_.sketches : nullptr,
                        codes,
                        query,
                        options.k,
                        kShareOfCodeError * parts_.codes.distance_error(codes),
                        *options.filter,
                        in_cell_order,
                        plan.matched,
                        options.work};
  CellScan scan(cells);
  for (std::size_t step = 1; scan.advance() || scan.look_beyond(); ++step) {
    if (step > kStepOfChoice) continue;
    if (options.path == SearchPath::kAuto && !cells_are_better(scan.rows_left(), width, sketched)) {
      if (step < kStepOfChoice) continue;
      std::vector<Scored> hits = walk(query, options, plan.matched, ef, width, counts);
      if (hits.size() == std::min(options.k, plan.matched)) {
        plan.path = SearchPath::kGraph;
        counts.visited += scan.visited();
        return hits;
      }
    }
    scan.share_rest();
  }
  counts.visited += scan.visited();
  std::vector<Scored> found = scan.take();
  rescore(query, codes, options.k, found, counts);
  found.resize(std::min(found.size(), options.k));
  return found;
}

std::vector<Scored> HnswIndex::walk(std::span<const float> query, const SearchOptions& options, std::size_t matched,
                                    std::size_t ef, std::size_t width, SearchCounts& counts) const {
  const Scorer scorer(parts_.codes.empty() ? parts_.rows : parts_.codes.matrix, query);
  std::vector<Scored> found;
  {
    const ScratchPool::Lease scratch(scratches_);
    GraphQuery walk{parts_.graph.view(), scorer, width, options.work.cancel};
    std::optional<WalkEnd> end;
    if (width != ef) walk.end = &end.emplace(*options.filter, matched, options.k, ef - options.k);
    found = search_graph(walk, *scratch, counts);
  }
  if (width != ef && !keep_members(*options.filter, options.k, ef, found)) return {};
  if (!parts_.codes.empty()) {
    rescore(query, scorer, options.k, found, counts);
  }
  found.resize(std::min(found.size(), options.k));
  return found;
}

void HnswIndex::rescore(std::span<const float> query, const Scorer& codes, std::size_t k, std::vector<Scored>& found,
                        SearchCounts& counts) const {
  const Scorer exact(parts_.rows, query);
  const std::size_t first = std::min(k, found.size());
  const auto rest = found.begin() + static_cast<std::ptrdiff_t>(first);
  std::nth_element(found.begin(), rest, found.end(), NearestFirst());
  score_exactly(exact, std::span(found).first(first), counts);
  float limit = 0;
  for (std::size_t i = 0; i < first; ++i) limit = std::max(limit, found[i].score);
  limit += parts_.codes.distance_error(codes);
  found.erase(std::remove_if(rest, found.end(), [limit](const Scored& row) { return row.score > limit; }), found.end());
  score_exactly(exact, std::span(found).subspan(first), counts);
  std::sort(found.begin(), found.end(), NearestFirst());
}

void HnswIndex::score_exactly(const Scorer& rows, std::span<Scored> found, SearchCounts& counts) const {
  std::vector<std::uint32_t> ordinals(found.size());
  std::vector<float> distances(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ordinals[i] = found[i].ordinal;
    rows.prefetch(ordinals[i]);
  }
  rows.distances(ordinals.data(), ordinals.size(), distances.data());
  for (std::size_t i = 0; i < found.size(); ++i) found[i].score = distances[i];
  counts.visited += found.size();
}

}  // namespace lorekeep::vector
