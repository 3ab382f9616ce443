#include "vector/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "vector/cell_ranking.h"
#include "vector/hnsw_index.h"
#include "vector/margin_trial.h"
#include "vector/search_plan.h"
#include "vector/sketch.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kHits = 10;

// A walk is measured on rows of the index that it leaves out: they are distributed as new queries are. A point beside a
// row is too easy, because the row leads to its own neighbours.
constexpr std::size_t kHeldOutRows = 512;
// A recall counts less this many standard errors: with several widths and margins tried, chance would pass one of them.
constexpr double kStandardErrors = 2;
constexpr float kWidening = 1.1f;
constexpr std::size_t kMaxWidenings = 12;
constexpr double kWalkRecall = 0.99;
constexpr float kWalkFactors[] = {1, 1.5, 2, 3, 4, 6, 8};

// The queries of a scan are rows moved by a part of the difference of two of their nearest rows.
constexpr std::size_t kQueries = 96;
constexpr std::size_t kNeighbours = 32;
constexpr float kStep = 0.5f;

// The recall that a scan of cells must reach under every held-back filter: with the cells' margin alone, and with both.
constexpr double kCellRecall = 0.9975;
constexpr double kScanRecall = 0.996;
// The recall of the same scans for rows that they leave out: the least that the margins guarantee.
constexpr std::size_t kLeftOutTrials = 192;
constexpr double kLeftOutRecall = 0.9925;
constexpr float kMarginStride = 1.3f;
constexpr float kMarginStep = 1.03f;
constexpr float kMinCellMargin = 3.0f;
constexpr float kMinSketchMargin = 2.1f;

/// Which rows a held-back filter keeps.
enum class HeldBack {
  kNone,       // all rows, if searches without a filter scan cells
  kRandom,     // a quarter of the rows
  kFollowing,  // half of the cells
  kOther,      // half of the cells, without those nearest to the query
  kOpposing,   // all but the nearest quarter of the cells
  kCount
};
// kOther excludes the nearest 1/n of the cells.
constexpr std::size_t kCellsPerExcluded = 50;

std::uint32_t hashed(std::uint32_t value) noexcept {
  value = (value ^ (value >> 16)) * 0x7feb352du;
  value = (value ^ (value >> 15)) * 0x846ca68bu;
  return value ^ (value >> 16);
}

/// The rows of one query by held-back filter; none if fewer than kHits match.
using Trial = std::array<std::vector<TrialRow>, static_cast<std::size_t>(HeldBack::kCount)>;

class Calibrator {
 public:
  explicit Calibrator(const HnswIndex& index) : index_(index), parts_(index.parts()) {
    const Cells& cells = parts_.cells;
    cell_of_.resize(cells.members().size());
    place_of_.resize(cells.members().size());
    for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
      for (std::uint32_t place = cells.starts()[cell]; place < cells.starts()[cell + 1]; ++place) {
        cell_of_[cells.members()[place]] = cell;
        place_of_[cells.members()[place]] = place;
      }
    }
  }

  Calibration calibrate(const Work& work) {
    Calibration calibration;
    const std::size_t width = default_ef(kHits);
    const bool scans = scan_is_better(index_.size(), index_.size(), width);
    const auto furthest = scans && parts_.cells.empty() ? std::vector<float>() : true_distances(work);
    if (!scans) calibration.walk_factor = walk_factor(work, furthest);
    scans_unfiltered_ = calibration.walk_factor == 0;
    if (parts_.cells.empty()) return calibration;
    measure_margins(work, calibration);
    widen_for_left_out_rows(work, calibration);
    widen_margins(work, furthest, calibration);
    return calibration;
  }

 private:
  /// Returns the least factor at which walks find the nearest rows of held-out rows; 0 if a scan of all rows costs
  /// less.
  float walk_factor(const Work& work, const std::vector<float>& furthest) const {
    for (const float factor : kWalkFactors) {
      const auto ef = static_cast<std::size_t>(factor * static_cast<float>(default_ef(kHits)));
      if (factor > 1 && kVisitsPerEf * static_cast<double>(ef) > cost_of_scan()) break;
      if (held_out_recall(work, furthest, {.k = kHits, .ef = ef, .path = SearchPath::kGraph}) >= kWalkRecall)
        return factor;
    }
    return 0;
  }

  /// Widens margins until replayed scans find the nearest rows of rows that they leave out, under every held-back
  /// filter. Such rows are farther from their nearest rows than queries between those.
  void widen_for_left_out_rows(const Work& work, Calibration& calibration) const {
    std::vector<Trial> trials(std::min(kLeftOutTrials, index_.size()));
    parallel_for(work, trials.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      const auto row = static_cast<std::uint32_t>(i * index_.size() / trials.size());
      trials[i] = trial(work, index_.row(row), row);
    });
    const auto recall = [&] {
      const float sketches = parts_.sketches.empty() ? kMaxMargin : calibration.sketch_margin;
      return least_recall(work, trials, {calibration.cell_margin, sketches});
    };
    for (std::size_t i = 0; i < kMaxWidenings && recall() < kLeftOutRecall; ++i) widen(calibration);
  }

  static void widen(Calibration& calibration) {
    calibration.cell_margin = std::min(calibration.cell_margin * kWidening, kMaxMargin);
    calibration.sketch_margin = std::min(calibration.sketch_margin * kWidening, kMaxMargin);
  }

  /// Widens margins until scans find the nearest rows of held-out rows. Replays know only the codes of rows.
  void widen_margins(const Work& work, const std::vector<float>& furthest, Calibration& calibration) const {
    const SearchOptions options{.k = kHits, .path = SearchPath::kCells, .calibration = &calibration};
    for (std::size_t i = 0; i < kMaxWidenings && held_out_recall(work, furthest, options) < kScanRecall; ++i)
      widen(calibration);
  }

  /// Returns the distance of the last true hit of each held-out row.
  std::vector<float> true_distances(const Work& work) const {
    std::vector<float> furthest(kHeldOutRows);
    parallel_for(work, furthest.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      furthest[i] = search_without(work, i, furthest.size(), {.k = kHits, .path = SearchPath::kExact}).back().score;
    });
    return furthest;
  }

  /// Returns the recall of searches for held-out rows, less kStandardErrors.
  double held_out_recall(const Work& work, const std::vector<float>& furthest, const SearchOptions& options) const {
    std::vector<double> recalls(furthest.size());
    parallel_for(work, recalls.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      const auto hits = search_without(work, i, recalls.size(), options);
      const auto found =
          std::count_if(hits.begin(), hits.end(), [&](const Scored& hit) { return hit.score <= furthest[i]; });
      recalls[i] = static_cast<double>(found) / static_cast<double>(kHits);
    });
    return lower_bound_of_mean(recalls);
  }

  /// Searches for the i-th of `count` held-out rows.
  std::vector<Scored> search_without(const Work& work, std::size_t i, std::size_t count, SearchOptions options) const {
    options.work = work.alone();
    options.without = static_cast<std::uint32_t>(i * index_.size() / count);
    return index_.search(index_.row(options.without), options).hits;
  }

  /// Returns the mean less kStandardErrors. Queries that miss a whole cluster spread more than single missed rows.
  static double lower_bound_of_mean(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return mean - kStandardErrors * std::sqrt(squares) / count;
  }

  /// Returns the cost of a scan of all rows in visits of a walk.
  double cost_of_scan() const noexcept {
    const double cost = parts_.sketches.empty() ? kScanCost : kSketchCost;
    return static_cast<double>(parts_.cells.size()) + cost * static_cast<double>(index_.size());
  }

  void measure_margins(const Work& work, Calibration& calibration) const {
    std::vector<Trial> trials(kQueries);
    parallel_for(work, kQueries, 1,
                 [&](std::size_t i, std::size_t, std::size_t) { trials[i] = trial(work, query(work, i)); });
    calibration.cell_margin = least_margin(
        kMinCellMargin, [&](float margin) { return least_recall(work, trials, {margin, kMaxMargin}) >= kCellRecall; });
    if (parts_.sketches.empty()) return;
    calibration.sketch_margin = least_margin(kMinSketchMargin, [&](float margin) {
      return least_recall(work, trials, {calibration.cell_margin, margin}) >= kScanRecall;
    });
  }

  /// Returns a margin from `least` on that suffices, at most kMarginStep times larger than an insufficient one. Larger
  /// margins suffice too, except for accidents.
  template <class Suffices>
  static float least_margin(float least, Suffices&& suffices) {
    if (suffices(least)) return least;
    float enough = least;
    do {
      least = enough;
      enough = std::min(enough * kMarginStride, kMaxMargin);
    } while (enough < kMaxMargin && !suffices(enough));
    while (enough > kMarginStep * least) {
      const float middle = std::sqrt(least * enough);
      (suffices(middle) ? enough : least) = middle;
    }
    return enough;
  }

  /// Returns the recall under the held-back filter that is worst for scans with these margins.
  double least_recall(const Work& work, const std::vector<Trial>& trials, Margins margins) const {
    using Counts = std::array<std::size_t, static_cast<std::size_t>(HeldBack::kCount)>;
    std::vector<Counts> found(trials.size());
    parallel_for(work, trials.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      for (std::size_t filter = 0; filter < trials[i].size(); ++filter) {
        Margins own = margins;
        if (static_cast<HeldBack>(filter) == HeldBack::kOpposing) own.cells *= kOpposedMargin;
        found[i][filter] = replay_scan(trials[i][filter], kHits, parts_.graph.view(), own);
      }
    });
    double least = 1;
    for (std::size_t filter = 0; filter < static_cast<std::size_t>(HeldBack::kCount); ++filter) {
      std::size_t wanted = 0;
      std::size_t all = 0;
      for (std::size_t i = 0; i < trials.size(); ++i) {
        wanted += trials[i][filter].empty() ? 0 : kHits;
        all += found[i][filter];
      }
      if (wanted > 0) least = std::min(least, static_cast<double>(all) / static_cast<double>(wanted));
    }
    return least;
  }

  std::vector<float> query(const Work& work, std::size_t i) const {
    std::vector<float> query = index_.row(i * index_.size() / kQueries);
    const auto near = index_.search(query, {.k = kNeighbours, .path = SearchPath::kExact, .work = work.alone()}).hits;
    std::minstd_rand random(static_cast<unsigned>(i + 1));
    const auto one = index_.row(near[random() % near.size()].ordinal);
    const auto other = index_.row(near[random() % near.size()].ordinal);
    for (std::size_t j = 0; j < query.size(); ++j) query[j] += kStep * (one[j] - other[j]);
    return query;
  }

  /// Returns the trials of a query, in which one row does not match; kNoNode: all may.
  Trial trial(const Work& work, const std::vector<float>& query, std::uint32_t left_out = kNoNode) const {
    const Scorer codes(parts_.codes.matrix, query);
    const std::vector<RankedCell> cells = survey_cells(parts_.cells, codes, query);
    std::vector<float> distances(index_.size());
    codes.distances_from(0, distances.size(), distances.data());
    const float nearest_few = distance_of_nearest(cells, cells.size() / kCellsPerExcluded);
    const float nearest_quarter = distance_of_nearest(cells, cells.size() / 4);
    const auto keeps = [&](HeldBack filter, std::uint32_t ordinal) {
      const RankedCell& cell = cells[cell_of_[ordinal]];
      const bool of_half = hashed(cell.number) % 2 == 0;
      switch (filter) {
        case HeldBack::kNone: return scans_unfiltered_;
        case HeldBack::kRandom: return hashed(ordinal) % 4 == 0;
        case HeldBack::kFollowing: return of_half;
        case HeldBack::kOther: return of_half && cell.centre_distance > nearest_few;
        default: return cell.centre_distance > nearest_quarter;
      }
    };
    Trial trial;
    for (std::size_t filter = 0; filter < trial.size(); ++filter) {
      work.check();
      std::vector<Scored> rows;
      for (std::uint32_t i = 0; i < distances.size(); ++i) {
        if (i != left_out && keeps(static_cast<HeldBack>(filter), i)) rows.push_back({distances[i], i});
      }
      if (rows.size() >= kHits) trial[filter] = trial_rows(query, cells, rows);
    }
    return trial;
  }

  /// Reorders `scored`.
  std::vector<TrialRow> trial_rows(const std::vector<float>& query, const std::vector<RankedCell>& cells,
                                   std::vector<Scored>& scored) const {
    const std::vector<std::size_t> ranks = trial_ranks(scored.size());
    const auto end = scored.begin() + static_cast<std::ptrdiff_t>(ranks.back() + 1);
    std::nth_element(scored.begin(), end - 1, scored.end(), NearestFirst());
    std::sort(scored.begin(), end, NearestFirst());
    std::vector<TrialRow> rows;
    std::vector<std::uint32_t> places;
    std::vector<float> centre_distances;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Scored& row = scored[ranks[i]];
      const auto weight = static_cast<std::uint32_t>(i + 1 < ranks.size() ? ranks[i + 1] - ranks[i] : 1);
      const RankedCell& cell = cells[cell_of_[row.ordinal]];
      rows.push_back({row.ordinal, weight, row.score, cell.centre_distance, cell.stddev, row.score, 0});
      places.push_back(place_of_[row.ordinal]);
      centre_distances.push_back(cell.centre_distance);
    }
    if (parts_.sketches.empty()) return rows;
    std::vector<float> likely(rows.size());
    std::vector<float> one_less(rows.size());
    SketchQuery(parts_.sketches, query)
        .estimate(places.data(), centre_distances.data(), rows.size(), 1.0f, likely.data(), one_less.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].likely = likely[i];
      rows[i].likely_stddev = likely[i] - one_less[i];
    }
    return rows;
  }

  /// Returns the distance of the centre than which `count` others are nearer.
  static float distance_of_nearest(const std::vector<RankedCell>& cells, std::size_t count) {
    std::vector<float> distances;
    for (const RankedCell& cell : cells) distances.push_back(cell.centre_distance);
    const auto at = distances.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(distances.begin(), at, distances.end());
    return *at;
  }

  const HnswIndex& index_;
  const HnswParts& parts_;
  std::vector<std::uint32_t> cell_of_;   // by ordinal
  std::vector<std::uint32_t> place_of_;  // by ordinal
  bool scans_unfiltered_ = false;
};

}  // namespace

Calibration calibrate(const HnswIndex& index, const Work& work) {
  return index.size() == 0 ? Calibration() : Calibrator(index).calibrate(work);
}

}  // namespace lorekeep::vector
