#include "vector/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "vector/cell_ranking.h"
#include "vector/hnsw_index.h"
#include "vector/sample_queries.h"
#include "vector/search_plan.h"
#include "vector/sketch.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kQueries = 96;
constexpr std::size_t kHits = 10;

// The recall that walks must reach, above the promised 0.99: 96 queries estimate it to about 0.002.
constexpr double kWalkRecall = 0.993;
constexpr float kWalkFactors[] = {1, 2, 4, 8};

// Share of the nearest rows that each margin may miss. Later steps of a scan find some of them.
constexpr double kMissedShare = 0.003;
constexpr float kLeastCellMargin = 3.0f;
constexpr float kLeastSketchMargin = 2.1f;
constexpr float kNoStddev = 1e-6f;

/// Which rows a held-back filter keeps.
enum class HeldBack { kRandom, kFollowing, kOpposing, kCount };

std::uint32_t hashed(std::uint32_t value) noexcept {
  value = (value ^ (value >> 16)) * 0x7feb352du;
  value = (value ^ (value >> 15)) * 0x846ca68bu;
  return value ^ (value >> 16);
}

/// The margins that a query needs, one per near row.
struct Needed {
  std::vector<float> cells[static_cast<std::size_t>(HeldBack::kCount)];
  std::vector<float> sketches[static_cast<std::size_t>(HeldBack::kCount)];
};

/// Returns the value that at most `share` of the values exceed.
float quantile_above(std::vector<float>& values, double share) {
  if (values.empty()) return 0;
  const auto exceeding = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() - 1 - exceeding);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

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
    queries_ = sample_queries(index_, kQueries, work);
    Calibration calibration;
    const std::size_t width = default_ef(kHits);
    if (!scan_is_better(index_.size(), index_.size(), width)) calibration.walk_factor = walk_factor(work);
    if (!parts_.cells.empty()) measure_margins(work, calibration);
    return calibration;
  }

 private:
  std::size_t count() const noexcept { return queries_.size(); }

  float walk_factor(const Work& work) const {
    std::vector<float> furthest(count());
    parallel_for(work, count(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      furthest[i] = index_.search(queries_[i], {.k = kHits, .path = SearchPath::kExact}).hits.back().score;
    });
    for (const float factor : kWalkFactors) {
      std::vector<std::size_t> found(count());
      const auto ef = static_cast<std::size_t>(factor * static_cast<float>(default_ef(kHits)));
      parallel_for(work, count(), 1, [&](std::size_t i, std::size_t, std::size_t) {
        const auto hits = index_.search(queries_[i], {.k = kHits, .ef = ef, .path = SearchPath::kGraph}).hits;
        found[i] = static_cast<std::size_t>(
            std::count_if(hits.begin(), hits.end(), [&](const Scored& hit) { return hit.score <= furthest[i]; }));
      });
      std::size_t all = 0;
      for (const std::size_t one : found) all += one;
      if (static_cast<double>(all) >= kWalkRecall * static_cast<double>(kHits * count())) return factor;
    }
    return 0;
  }

  void measure_margins(const Work& work, Calibration& calibration) const {
    std::vector<Needed> needed(count());
    parallel_for(work, count(), 1, [&](std::size_t i, std::size_t, std::size_t) { needed[i] = needs(queries_[i]); });
    calibration.cell_margin = kLeastCellMargin;
    calibration.sketch_margin = kLeastSketchMargin;
    for (std::size_t filter = 0; filter < static_cast<std::size_t>(HeldBack::kCount); ++filter) {
      std::vector<float> cells;
      std::vector<float> sketches;
      for (const Needed& one : needed) {
        cells.insert(cells.end(), one.cells[filter].begin(), one.cells[filter].end());
        sketches.insert(sketches.end(), one.sketches[filter].begin(), one.sketches[filter].end());
      }
      calibration.cell_margin = std::max(calibration.cell_margin, quantile_above(cells, kMissedShare));
      calibration.sketch_margin = std::max(calibration.sketch_margin, quantile_above(sketches, kMissedShare));
    }
    calibration.cell_margin = std::min(calibration.cell_margin, kMostMargin);
    calibration.sketch_margin = std::min(calibration.sketch_margin, kMostMargin);
  }

  Needed needs(const std::vector<float>& query) const {
    const Scorer codes(parts_.codes.matrix, query);
    const std::vector<RankedCell> cells = survey_cells(parts_.cells, codes, query);
    std::vector<float> distances(index_.size());
    codes.distances_from(0, distances.size(), distances.data());
    const float near_cells = nearest_quarter(cells);
    Needed needed;
    for (std::size_t filter = 0; filter < static_cast<std::size_t>(HeldBack::kCount); ++filter) {
      const auto keeps = [&](std::uint32_t ordinal) {
        const RankedCell& cell = cells[cell_of_[ordinal]];
        switch (static_cast<HeldBack>(filter)) {
          case HeldBack::kRandom: return hashed(ordinal) % 4 == 0;
          case HeldBack::kFollowing: return hashed(cell.number) % 2 == 0;
          default: return cell.centre_distance > near_cells;
        }
      };
      TopK<NearestFirst> nearest(kHits);
      for (std::uint32_t i = 0; i < distances.size(); ++i) {
        if ((!nearest.full() || distances[i] < nearest.worst().score) && keeps(i)) nearest.push({distances[i], i});
      }
      if (!nearest.full()) continue;
      const std::vector<Scored> rows = nearest.take_sorted();
      for (const Scored& row : rows) {
        const RankedCell& cell = cells[cell_of_[row.ordinal]];
        const float lead = cell.centre_distance - rows.back().score;
        needed.cells[filter].push_back(cell.stddev > kNoStddev ? lead / cell.stddev : 0.0f);
      }
      if (!parts_.sketches.empty()) needed.sketches[filter] = sketch_needs(query, cells, rows);
    }
    return needed;
  }

  std::vector<float> sketch_needs(const std::vector<float>& query, const std::vector<RankedCell>& cells,
                                  const std::vector<Scored>& rows) const {
    std::vector<std::uint32_t> places;
    std::vector<float> origins;
    for (const Scored& row : rows) {
      places.push_back(place_of_[row.ordinal]);
      origins.push_back(cells[cell_of_[row.ordinal]].centre_distance);
    }
    std::vector<float> likely(rows.size());
    std::vector<float> one_less(rows.size());
    SketchQuery(parts_.sketches, query)
        .estimate(places.data(), origins.data(), rows.size(), 1.0f, likely.data(), one_less.data());
    std::vector<float> needed;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const float stddev = likely[i] - one_less[i];
      needed.push_back(stddev > kNoStddev ? (likely[i] - rows.back().score) / stddev : 0.0f);
    }
    return needed;
  }

  /// Returns the distance of the centre that a quarter of the cells are nearer than.
  static float nearest_quarter(const std::vector<RankedCell>& cells) {
    std::vector<float> distances;
    for (const RankedCell& cell : cells) distances.push_back(cell.centre_distance);
    const auto at = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 4);
    std::nth_element(distances.begin(), at, distances.end());
    return *at;
  }

  const HnswIndex& index_;
  const HnswParts& parts_;
  std::vector<std::uint32_t> cell_of_;   // by ordinal
  std::vector<std::uint32_t> place_of_;  // by ordinal
  std::vector<std::vector<float>> queries_;
};

}  // namespace

Calibration calibrate(const HnswIndex& index, const Work& work) {
  return index.size() == 0 ? Calibration() : Calibrator(index).calibrate(work);
}

}  // namespace lorekeep::vector
