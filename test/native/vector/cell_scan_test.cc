// A scan of cells knows whether matching rows are near the query.
#include "vector/cell_scan.h"

#include "sample_vectors.h"

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

}  // namespace
}  // namespace lorekeep::vector
