#include "vector/hnsw_index.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/values/error.h"
#include "vector/cell_scan.h"
#include "vector/graph_search.h"
#include "vector/scan.h"
#include "vector/search_plan.h"

namespace lorekeep::vector {

namespace {

// The share of the greatest code error that a scan of cells allows for, twice. An error matters in full only if it
// points to the query. Errors are isotropic, so their standard deviation is the greatest error over the square root of
// the dimension: a quarter is two standard deviations at 64 dimensions and five at 384.
constexpr float kShareOfCodeError = 0.25f;

// Share of the calibrated margin of sketches beyond which an error is a surprise: two standard deviations at the usual
// margins, which 2 % of normal errors exceed. The margin of a narrower search does not count, or it would call normal
// errors surprising and scan every row.
constexpr float kSurprise = 0.8f;

constexpr std::size_t kRowsWidened = 1024;

/// Drops rows that do not match, and returns whether the k nearest of the rest are reliable.
bool keep_matching(const Bitmap& filter, std::size_t k, std::size_t margin_rows, std::vector<Scored>& found) {
  std::size_t matching = 0;
  std::size_t rank = 0;  // of the k-th matching row
  for (std::size_t i = 0; i < found.size() && matching < k; ++i) {
    if (filter.test(found[i].ordinal) && ++matching == k) rank = i + 1;
  }
  if (matching < k || !walk_is_sound(found, rank, margin_rows)) return false;
  std::erase_if(found, [&filter](const Scored& row) { return !filter.test(row.ordinal); });
  return true;
}

/// Returns the rows that a graph is built on. Building needs distances between rows, for which f16 has no kernel: short
/// f16 rows are converted to f32, `wide`.
const VectorMatrix& graph_rows(const HnswParts& parts, const VectorMatrix& wide) {
  if (wide.size() > 0) return wide;
  return parts.codes.empty() ? parts.rows : parts.codes.matrix;
}

/// Whether the graph of these rows is built on wider ones: see graph_rows().
bool is_widened(const VectorMatrix& rows) {
  return rows.type() == VectorType::kF16 && rows.dimension() < kMinCodedDimension;
}

/// Drops rows that were removed, and returns whether the k nearest of the rest are reliable: removed rows are spread,
/// or the search went far enough beyond them.
bool keep_live(const Bitmap& live, std::size_t k, std::size_t margin_rows, std::vector<Scored>& found) {
  const auto removed = static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [&live](const Scored& row) { return !live.test(row.ordinal); }));
  if (2 * removed > found.size()) return keep_matching(live, k, margin_rows, found);
  std::erase_if(found, [&live](const Scored& row) { return !live.test(row.ordinal); });
  return true;
}

/// Returns the width of a walk whose filter drops rows. Walks of a collection are wide enough for its removed rows, but
/// each has to find k others.
std::size_t width_of(const SearchOptions& asked, std::size_t size, std::size_t matched, std::size_t ef, std::size_t k) {
  if (!asked.mostly) return filtered_ef(size, matched, ef, k);
  return asked.collection == 0 ? widened_ef(size, matched, ef) : std::max(ef, widened_ef(size, matched, k + k / 4));
}

/// Whether a graph needs wider searches than an earlier one to find the nearest rows. A factor of 0 is the worst.
bool leads_worse(const Calibration& now, const Calibration& earlier) {
  return earlier.walk_factor > 0 && (now.walk_factor == 0 || now.walk_factor > earlier.walk_factor);
}

/// Whether another program has written to the file of an index, so that rows and links may not belong together.
bool is_changed(const HnswIndex& index) {
  try {
    index.check_file();
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

std::shared_ptr<const HnswIndex> HnswIndex::build(std::span<const float> rows, std::size_t dimension,
                                                  const HnswParams& params, const Work& work,
                                                  const BuildProgress& progress, const HnswIndex* earlier) {
  HnswParts parts;
  parts.params = params;
  parts.rows = VectorMatrix::encode(rows, dimension, params.type, work);
  const VectorMatrix wide =
      is_widened(parts.rows) ? VectorMatrix::encode(rows, dimension, VectorType::kF32, work) : VectorMatrix();
  return build(std::move(parts), wide, work, progress, earlier);
}

std::shared_ptr<const HnswIndex> HnswIndex::build(VectorMatrix rows, const HnswParams& params, const Work& work,
                                                  const BuildProgress& progress, const HnswIndex* earlier) {
  HnswParts parts;
  parts.params = params;
  parts.rows = std::move(rows);
  VectorMatrix wide;
  if (is_widened(parts.rows)) {
    wide = VectorMatrix::allocate(VectorType::kF32, parts.rows.size(), parts.rows.dimension());
    std::vector<float> row(parts.rows.dimension());
    for (std::size_t i = 0; i < parts.rows.size(); ++i) {
      if (i % kRowsWidened == 0) work.check();
      parts.rows.decode(i, row.data());
      wide.set(i, row);
    }
  }
  return build(std::move(parts), wide, work, progress, earlier);
}

std::shared_ptr<const HnswIndex> HnswIndex::build(HnswParts parts, const VectorMatrix& wide, const Work& work,
                                                  const BuildProgress& progress, const HnswIndex* earlier) {
  const HnswParams params = parts.params;
  const std::size_t dimension = parts.rows.dimension();
  const bool long_enough = params.type != VectorType::kI8 && dimension >= kMinCodedDimension;
  if (params.type == VectorType::kI10 || long_enough) {
    parts.codes = encode_codes(parts.rows, work);
  }
  if (!parts.codes.empty() && parts.rows.size() >= kMinCelledRows) {
    parts.cells = Cells::build(parts.codes.matrix, work);
    if (long_enough && dimension >= kMinSketchedDimension) {
      parts.sketches = Sketches::encode(parts.rows, parts.cells, work);
    }
  }
  const auto known = earlier != nullptr && earlier->params() == params
                         ? find_earlier(parts.rows, earlier->parts().rows, earlier->parts().graph.view(), work)
                         : std::nullopt;
  parts.graph = build_graph(graph_rows(parts, wide), params, work, progress, known ? &*known : nullptr);
  parts.linked = parts.rows.size() - (known ? known->kept : 0);
  const auto index = std::make_shared<HnswIndex>(std::move(parts));
  HnswParts& built = index->parts_;
  built.calibration = calibrate(*index, work);
  if (known && (is_changed(*earlier) || leads_worse(built.calibration, earlier->parts().calibration))) {
    built.graph = build_graph(graph_rows(built, wide), params, work, {});
    built.linked = built.rows.size();
    built.calibration = calibrate(*index, work);
  }
  return index;
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

SearchResult HnswIndex::search(std::span<const float> query, const SearchOptions& asked) const {
  SearchResult result;
  VectorPlan& plan = result.plan;
  plan.matched = check_options(asked);
  SearchOptions options = asked;
  options.k = hits_with(asked);
  const Calibration& calibration = asked.calibration != nullptr ? *asked.calibration : parts_.calibration;
  const std::size_t usual = options.usual_ef == 0 ? default_ef(asked.k) : std::max(options.usual_ef, options.k);
  const std::size_t whole =
      options.ef == 0 ? static_cast<std::size_t>(std::max(calibration.walk_factor, 1.0f) * static_cast<float>(usual))
                      : std::max(options.ef, options.k);
  const std::size_t ef =
      asked.collection == 0 ? whole : std::max(shared_ef(size(), asked.collection, whole), options.k);
  const PlanFacts facts{.asked = options.path,
                        .size = size(),
                        .matched = plan.matched,
                        .k = options.k,
                        .width = width_of(asked, size(), plan.matched, ef, options.k),
                        .has_cells = !parts_.cells.empty(),
                        .mostly = asked.mostly,
                        .may_walk = calibration.walk_factor > 0 || (options.ef != 0 && parts_.cells.empty())};
  const float breadth = options.ef == 0 ? 1.0f : std::sqrt(static_cast<float>(whole) / static_cast<float>(usual));
  const Task task{query, options, facts, calibration, ef, breadth};
  SearchCounts counts;
  plan.path = choose_path(facts);
  if (plan.path == SearchPath::kGraph) {
    if (auto hits = walk(task, counts, plan.reach)) {
      result.hits = std::move(*hits);
    } else {
      plan.path = after_walk(facts, 0);
    }
  }
  if (plan.path == SearchPath::kCells) result.hits = scan_cells(task, plan, counts);
  if (plan.path == SearchPath::kExact) result.hits = scan_all(task, counts);  // also after other paths failed
  leave_out(asked, result.hits);
  plan.exact = plan.path == SearchPath::kExact;
  plan.visited = counts.visited;
  plan.hops = counts.hops;
  return result;
}

Bitmap HnswIndex::to_cell_order(const Bitmap& filter, const CancelToken* cancel) const {
  check_filter(filter);
  return scans_cells(!parts_.cells.empty(), size(), filter.count()) ? parts_.cells.to_cell_order(filter, cancel)
                                                                    : Bitmap();
}

std::vector<Scored> HnswIndex::scan_all(const Task& task, SearchCounts& counts) const {
  const Codes* codes = parts_.codes.empty() ? nullptr : &parts_.codes;
  const SearchOptions& options = task.options;
  return scan({parts_.rows, codes, task.query, options.k, options.filter, options.work, options.limit}, counts);
}

std::vector<Scored> HnswIndex::scan_cells(const Task& task, VectorPlan& plan, SearchCounts& counts) const {
  const SearchOptions& options = task.options;
  const Scorer codes(parts_.codes.matrix, task.query);
  const Bitmap all_rows(options.filter == nullptr ? size() : 0, true);
  const Bitmap* const in_cell_order = options.filter == nullptr ? &all_rows : options.filter_in_cell_order;
  const bool sketched = !parts_.sketches.empty() && SketchQuery::fast();
  const CellQuery cells{
      .cells = parts_.cells,
      .graph = parts_.graph.view(),
      .sketches = sketched ? &parts_.sketches : nullptr,
      .codes = codes,
      .query = task.query,
      .k = options.k,
      .cell_margin = task.breadth * task.calibration.cell_margin,
      .sketch_margin = task.breadth * task.calibration.sketch_margin,
      .surprise = kSurprise * task.calibration.sketch_margin,
      .code_error = kShareOfCodeError * parts_.codes.distance_error(codes),
      .filter = options.filter == nullptr ? all_rows : *options.filter,
      .filter_in_cell_order = in_cell_order != nullptr && in_cell_order->size() > 0 ? in_cell_order : nullptr,
      .matched = plan.matched,
      .limit = options.limit,
      .work = options.work};
  CellScan scan(cells);
  for (std::size_t step = 1; scan.advance() || scan.look_beyond(); ++step) {
    if (step != kStepOfChoice) continue;
    const auto matches_are_near = [&] { return scan.matches_are_near(task.facts.width); };
    const CellStep next = after_cells(task.facts, scan.rows_left(), sketched, matches_are_near);
    if (next == CellStep::kWalk) {
      if (auto hits = walk(task, counts, plan.reach)) {
        plan.path = SearchPath::kGraph;
        counts.visited += scan.visited();
        return *std::move(hits);
      }
    }
    scan.share_rest();
  }
  counts.visited += scan.visited();
  if (scan.sketches_mislead()) {
    plan.path = SearchPath::kExact;
    return {};
  }
  std::vector<Scored> found = scan.rows();
  rescore(task, codes, found, counts);
  found.resize(std::min(found.size(), options.k));
  return found;
}

std::optional<std::vector<Scored>> HnswIndex::walk(const Task& task, SearchCounts& counts, float& reach) const {
  const SearchOptions& options = task.options;
  const bool filtered = options.filter != nullptr && task.facts.matched < task.facts.size;
  const std::size_t margin_rows = task.ef - options.k;
  const Scorer scorer(parts_.codes.empty() ? parts_.rows : parts_.codes.matrix, task.query);
  std::vector<Scored> found;
  {
    const ScratchPool::Lease scratch(scratches_);
    GraphQuery walk{parts_.graph.view(), scorer, task.facts.width, options.work.cancel, options.without};
    if (!filtered || options.mostly) walk.horizon = options.horizon;
    std::optional<WalkEnd> end;
    if (filtered && !options.mostly)
      walk.end = &end.emplace(*options.filter, task.facts.matched, options.k, margin_rows);
    found = search_graph(walk, *scratch, counts);
  }
  const float farthest = found.empty() ? std::numeric_limits<float>::infinity() : found.back().score;
  const auto keep = options.mostly ? keep_live : keep_matching;
  if (filtered && !keep(*options.filter, options.k, margin_rows, found)) return std::nullopt;
  const bool ended_early = options.horizon < std::numeric_limits<float>::infinity();
  if (!ended_early && after_walk(task.facts, found.size()) != SearchPath::kGraph) return std::nullopt;
  reach = farthest;
  if (!parts_.codes.empty()) rescore(task, scorer, found, counts);
  found.resize(std::min(found.size(), options.k));
  return found;
}

void HnswIndex::rescore(const Task& task, const Scorer& codes, std::vector<Scored>& found, SearchCounts& counts) const {
  const Scorer exact(parts_.rows, task.query);
  const float farthest = task.options.limit + parts_.codes.distance_error(codes);
  std::erase_if(found, [farthest](const Scored& row) { return row.score > farthest; });
  const std::size_t first = std::min(task.options.k, found.size());
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
