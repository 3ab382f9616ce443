// A scan of cells knows whether matching rows are near the query.
#include "vector/cell_scan.h"

#include "sample_vectors.h"
#include "vector/cell_ranking.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kScannedRows = 4000;
constexpr std::size_t kScannedDimension = 64;

TEST("cell scan: matching rows are near if the cells around the query contain their share of them") {
  const auto values = test::clustered_rows(kScannedRows, kScannedDimension, 20, test::seed());
  const auto query = std::span<const float>(values).first(kScannedDimension);
  const VectorMatrix rows = VectorMatrix::encode(values, kScannedDimension, VectorType::kI8);
  const Cells cells = Cells::build(rows, {});
  const Scorer scorer(rows, query);
  std::vector<float> distances(kScannedRows);
  scorer.distances_from(0, kScannedRows, distances.data());
  std::vector<float> sorted = distances;
  std::sort(sorted.begin(), sorted.end());
  const auto near = [&](const Bitmap& filter) {
    const GraphView graph;
    const CellQuery cell_query{.cells = cells,
                               .graph = graph,
                               .sketches = nullptr,
                               .codes = scorer,
                               .query = query,
                               .k = 10,
                               .cell_margin = 3,
                               .sketch_margin = 3,
                               .surprise = 2,
                               .code_error = 0,
                               .filter = filter,
                               .filter_in_cell_order = nullptr,
                               .matched = filter.count()};
    return CellScan(cell_query).matches_are_near(150);
  };
  std::mt19937_64 random(test::seed());
  CHECK(near(test::random_filter(kScannedRows, 0.5, random)));
  Bitmap nearest(kScannedRows);
  Bitmap furthest(kScannedRows);
  for (std::size_t row = 0; row < kScannedRows; ++row) {
    (distances[row] <= sorted[kScannedRows / 2] ? nearest : furthest).set(row);
  }
  CHECK(near(nearest));
  CHECK(!near(furthest));
}

TEST("cell ranking: returns each cell once, skipped ones as soon as the margin reaches their rows") {
  const auto values = test::clustered_rows(kScannedRows, kScannedDimension, 20, test::seed());
  const auto query = std::span<const float>(values).first(kScannedDimension);
  const VectorMatrix rows = VectorMatrix::encode(values, kScannedDimension, VectorType::kI8);
  const Cells cells = Cells::build(rows, {});
  const std::vector<RankedCell> surveyed = survey_cells(cells, Scorer(rows, query), query);
  std::vector<float> bounds;
  for (const RankedCell& cell : surveyed) bounds.push_back(cell.centre_distance - cell.stddev);
  std::nth_element(bounds.begin(), bounds.begin() + 10, bounds.end());
  const float furthest = bounds[10];
  CellRanking ranking(cells, surveyed, 1);
  std::vector<bool> returned(cells.size());
  const auto returns_all = [&](CellRanking& from, float margin) {
    while (const auto cell = from.next(furthest)) {
      if (returned[cell->number]) return false;
      returned[cell->number] = true;
    }
    for (const RankedCell& cell : surveyed) {
      if (cell.centre_distance - margin * cell.stddev <= furthest && !returned[cell.number]) return false;
    }
    return !from.next(furthest);
  };
  CHECK(returns_all(ranking, 1));
  const auto few = std::count(returned.begin(), returned.end(), true);
  ranking.expect_lead_over_centre(1 - kStddevsBeyondFound);
  CHECK(returns_all(ranking, 1));
  CHECK(std::count(returned.begin(), returned.end(), true) == few);
  ranking.expect_lead_over_centre(2);
  CHECK(returns_all(ranking, 2 + kStddevsBeyondFound));
  CHECK(std::count(returned.begin(), returned.end(), true) > few);
}

TEST("cell ranking: two parts return the cells of one, and together the cells within a margin that either learned") {
  const auto values = test::clustered_rows(kScannedRows, kScannedDimension, 20, test::seed());
  const auto query = std::span<const float>(values).first(kScannedDimension);
  const VectorMatrix rows = VectorMatrix::encode(values, kScannedDimension, VectorType::kI8);
  const Cells cells = Cells::build(rows, {});
  const std::vector<RankedCell> surveyed = survey_cells(cells, Scorer(rows, query), query);
  const float furthest = surveyed[surveyed.size() / 2].centre_distance;
  CellRanking whole(cells, surveyed, 0.5f);
  std::vector<int> returned(cells.size());
  CellRanking part = whole.split_off();
  while (const auto cell = whole.next(furthest)) ++returned[cell->number];
  while (const auto cell = part.next(furthest)) ++returned[cell->number];
  part.expect_lead_over_centre(1.5f);
  whole.take_back(part);
  while (const auto cell = whole.next(furthest)) ++returned[cell->number];
  for (const RankedCell& cell : surveyed) {
    const bool near = cell.centre_distance - (1.5f + kStddevsBeyondFound) * cell.stddev <= furthest;
    CHECK(returned[cell.number] == (near ? 1 : 0));
  }
}

}  // namespace
}  // namespace lorekeep::vector
