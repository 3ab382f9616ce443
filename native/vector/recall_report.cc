#include "vector/recall_report.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lorekeep::vector {
namespace {

constexpr double kEnough = 0.99;
constexpr std::size_t kAnchors = 4;
constexpr std::size_t kWider[] = {2, 4, 8, 16, 32};
constexpr std::pair<TriedFilter, double> kCells[] = {
    {TriedFilter::kNone, 1},   {TriedFilter::kRandom, 0.5}, {TriedFilter::kRandom, 0.1}, {TriedFilter::kNear, 0.5},
    {TriedFilter::kNear, 0.1}, {TriedFilter::kFar, 0.5},    {TriedFilter::kFar, 0.1}};
// Rows as near as the last true one count: equal distances have no order of importance.
constexpr float kTie = 1e-6f;

class Report {
 public:
  Report(const VectorIndex& index, const RecallOptions& options)
      : index_(index), options_(options), queries_(std::min(options.queries, index.size())) {
    for (std::size_t anchor = 0; anchor < kAnchors; ++anchor) order_by_distance(anchor * index.size() / kAnchors);
    for (std::size_t i = 0; i < queries_.size(); ++i) {
      Query& query = queries_[i];
      query.row = static_cast<std::uint32_t>(i * index.size() / queries_.size());
      query.vector = index.row(query.row);
      query.anchor = nearest_anchor(query.vector);
    }
  }

  /// `count` rows, a `share` of all, match.
  RecallCell measure(TriedFilter filter, std::size_t count, double share) const {
    RecallCell cell{filter, share, 1, 0, true};
    const std::vector<Bitmap> filters = filters_of(filter, count);
    const std::vector<Truth> truths = true_hits(filters);
    cell.recall = recall(filters, truths, options_.ef);
    cell.enough = cell.recall >= kEnough;
    const std::size_t usual = options_.ef == 0 ? default_ef(options_.k) : options_.ef;
    for (const std::size_t factor : kWider) {
      if (cell.enough || cell.ef != 0 || factor * usual > kMaxEf) break;
      if (recall(filters, truths, factor * usual) >= kEnough) cell.ef = factor * usual;
    }
    return cell;
  }

 private:
  struct Query {
    std::uint32_t row;  // left out of its search
    std::vector<float> vector;
    std::size_t anchor;  // the nearest
  };
  struct Truth {
    std::size_t hits;
    float furthest;
  };

  void order_by_distance(std::size_t anchor) {
    std::vector<std::uint32_t> order(index_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::vector<float> distances(order.size());
    anchors_.push_back(index_.row(anchor));
    index_.score(anchors_.back(), order, distances);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(distances[a], a) < std::pair(distances[b], b);
    });
    orders_.push_back(std::move(order));
  }

  std::size_t nearest_anchor(const std::vector<float>& query) const {
    std::vector<std::uint32_t> rows;
    for (const auto& order : orders_) rows.push_back(order.front());
    std::vector<float> distances(rows.size());
    index_.score(query, rows, distances);
    return static_cast<std::size_t>(std::min_element(distances.begin(), distances.end()) - distances.begin());
  }

  /// One filter per anchor; empty: none.
  std::vector<Bitmap> filters_of(TriedFilter filter, std::size_t count) const {
    std::vector<Bitmap> filters;
    if (filter == TriedFilter::kNone) return filters;
    for (const auto& order : orders_) {
      Bitmap rows(index_.size());
      if (filter == TriedFilter::kRandom) {
        std::uint64_t state = filters.size() + 1;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
          if ((state >> 33) % rows.size() < count) rows.set(i);
        }
        if (rows.count() == 0) rows.set(0);
      } else {
        const std::size_t first = filter == TriedFilter::kNear ? 0 : rows.size() - count;
        for (std::size_t i = first; i < first + count; ++i) rows.set(order[i]);
      }
      filters.push_back(std::move(rows));
    }
    return filters;
  }

  std::vector<Scored> search(const Query& query, const std::vector<Bitmap>& filters, SearchOptions options) const {
    options.k = options_.k;
    options.without = query.row;
    options.work = options_.work.alone();
    if (!filters.empty()) options.filter = &filters[query.anchor];
    return index_.search(query.vector, options).hits;
  }

  std::vector<Truth> true_hits(const std::vector<Bitmap>& filters) const {
    std::vector<Truth> truths(queries_.size());
    parallel_for(options_.work, queries_.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      const auto hits = search(queries_[i], filters, {.path = SearchPath::kExact});
      truths[i] = {hits.size(), hits.empty() ? 0.0f : hits.back().score};
    });
    return truths;
  }

  double recall(const std::vector<Bitmap>& filters, const std::vector<Truth>& truths, std::size_t ef) const {
    std::vector<double> shares(queries_.size(), 1.0);
    parallel_for(options_.work, queries_.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      if (truths[i].hits == 0) return;
      const auto hits = search(queries_[i], filters, {.ef = ef});
      const auto found = std::count_if(hits.begin(), hits.end(),
                                       [&](const Scored& hit) { return hit.score <= truths[i].furthest + kTie; });
      shares[i] = static_cast<double>(found) / static_cast<double>(truths[i].hits);
    });
    return std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  }

  const VectorIndex& index_;
  const RecallOptions& options_;
  std::vector<Query> queries_;
  std::vector<std::vector<float>> anchors_;
  std::vector<std::vector<std::uint32_t>> orders_;  // of each anchor: all rows, nearest first
};

}  // namespace

std::vector<RecallCell> report_recall(const VectorIndex& index, const RecallOptions& options) {
  std::vector<RecallCell> cells;
  if (index.size() == 0) return cells;
  const Report report(index, options);
  for (const auto& [filter, share] : kCells) {
    // A filter that keeps no row of a small index has no recall.
    const auto kept = static_cast<std::size_t>(share * static_cast<double>(index.size()));
    if (kept > 0) cells.push_back(report.measure(filter, kept, share));
  }
  return cells;
}

}  // namespace lorekeep::vector
