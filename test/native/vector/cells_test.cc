// Cells: every row is in one, near rows in the same; a search by them finds the nearest rows of a filter, whatever the
// rows are like, and damage to a file that holds them is refused or harmless.
#include "vector/cells.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "core/values/error.h"
#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"

namespace lorekeep::vector {
namespace {

Cells cells_of(std::span<const float> values, std::size_t dimension, const Work& work = {}) {
  return Cells::build(VectorMatrix::encode(values, dimension, VectorType::kI8), work);
}

void check_partition(const Cells& cells, std::size_t rows) {
  CHECK_EQ(cells.members().size(), rows);
  CHECK_EQ(cells.starts().size(), cells.size() + 1);
  CHECK_EQ(cells.centres().size(), cells.size());
  std::vector<bool> seen(rows);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    CHECK(cells.starts()[cell] < cells.starts()[cell + 1]);  // none is empty
    const auto own = cells.members().subspan(cells.starts()[cell], cells.starts()[cell + 1] - cells.starts()[cell]);
    CHECK(std::is_sorted(own.begin(), own.end()));
    for (std::uint32_t member : own) {
      CHECK(!seen[member]);
      seen[member] = true;
    }
  }
}

TEST("cells: every row is in one of them, however few rows or different rows there are") {
  for (std::size_t rows : {1u, 2u, 63u, 700u}) {
    const auto values = test::normal_values(rows * 64, test::seed());
    check_partition(cells_of(values, 64), rows);
    const std::vector<float> same(rows * 64, 1.0f);
    const Cells one = cells_of(same, 64);
    check_partition(one, rows);
    CHECK_EQ(one.size(), 1u);
    const std::vector<float> zero(rows * 64);
    check_partition(cells_of(zero, 64), rows);
  }
  CHECK(Cells::build(VectorMatrix(), {}).empty());
}

TEST("cells: a set of rows that is in_cell_order holds the places of those rows, whatever part of a word they fill") {
  std::mt19937_64 random(test::seed());
  for (std::size_t rows : {1u, 63u, 64u, 65u, 700u}) {
    const Cells cells = cells_of(test::clustered_rows(rows, 64, 9, test::seed()), 64);
    const Bitmap set = test::random_filter(rows, 0.4, random);
    const Bitmap places = cells.to_cell_order(set, nullptr);
    REQUIRE(places.size() == rows);
    CHECK_EQ(places.count(), set.count());
    for (std::size_t place = 0; place < rows; ++place) {
      CHECK_EQ(places.test(place), set.test(cells.members()[place]));
    }
  }
}

TEST("cells: a filter is in_cell_order where searches by cells are possible, and must be one of the index") {
  const auto values = test::clustered_rows(3000, 64, 20, test::seed());
  const auto index = HnswIndex::build(values, 64, {{.m = 4, .ef_construction = 20}, VectorType::kF32});
  const auto query = std::span<const float>(values).first(64);
  Bitmap filter(3000, true);
  CHECK_EQ(index->to_cell_order(filter, nullptr).size(), 0u);  // all rows: a walk
  filter.reset(1);
  CHECK_EQ(index->to_cell_order(filter, nullptr).size(), 3000u);
  const Bitmap few(3000);
  CHECK_EQ(index->to_cell_order(few, nullptr).size(), 0u);
  CHECK_EQ(FlatIndex::build(values, 64)->to_cell_order(filter, nullptr).size(), 0u);
  const Bitmap foreign(2999, true);
  CHECK_FAILS(Code::kInvalidArgument, index->to_cell_order(foreign, nullptr));
  CHECK_FAILS(Code::kInvalidArgument, index->search(query, {.filter = &filter, .filter_in_cell_order = &foreign}));
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, index->to_cell_order(filter, &cancel));
}

TEST("cells: they are the same however many threads make them, and end when they are told to") {
  const auto values = test::clustered_rows(4000, 64, 30, test::seed());
  ThreadPool pool(3);
  const Cells alone = cells_of(values, 64);
  const Cells shared = cells_of(values, 64, {&pool, 4});
  CHECK(std::ranges::equal(alone.members(), shared.members()));
  CHECK(std::ranges::equal(alone.starts(), shared.starts()));
  CHECK(std::ranges::equal(alone.radii(), shared.radii()));
  CHECK(std::ranges::equal(alone.centres().row_bytes(), shared.centres().row_bytes()));
  CancelToken cancelled;
  cancelled.cancel();
  const auto rows = VectorMatrix::encode(values, 64, VectorType::kI8);
  CHECK_FAILS(Code::kCancelled, Cells::build(rows, {.cancel = &cancelled}));
}

TEST("cells: rows are nearer to their centres than to the middle of all rows, and radii say how near") {
  constexpr std::size_t kRows = 6000;
  constexpr std::size_t kDimension = 64;
  const auto values = test::clustered_rows(kRows, kDimension, 60, test::seed());
  const auto rows = VectorMatrix::encode(values, kDimension, VectorType::kF32);
  const Cells cells = cells_of(values, kDimension);
  double squares = 0;
  double said = 0;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    std::vector<float> centre(kDimension);
    std::vector<float> row(kDimension);
    cells.centres().decode(cell, centre.data());
    for (std::size_t place = cells.starts()[cell]; place < cells.starts()[cell + 1]; ++place) {
      rows.decode(cells.members()[place], row.data());
      for (std::size_t j = 0; j < kDimension; ++j) squares += std::pow(static_cast<double>(row[j]) - centre[j], 2);
      said += std::pow(static_cast<double>(cells.radii()[cell]), 2);
    }
  }
  CHECK(squares / kRows < 0.6);  // of 1 around the middle, nearly
  CHECK(std::fabs(squares / said - 1) < 0.02);
}

enum class Shape { kClustered, kScattered, kTwins };

std::vector<float> shaped(Shape shape, std::size_t rows, std::size_t dimension) {
  if (shape == Shape::kClustered) return test::clustered_rows(rows, dimension, 40, test::seed());
  auto values = test::normal_values(rows * dimension, test::seed());
  if (shape == Shape::kScattered) return values;
  // Every row has some that are far nearer to it than chance would have it, with others between them.
  for (std::size_t i = rows / 20; i < rows; ++i) {
    for (std::size_t j = 0; j < dimension; ++j) {
      values[i * dimension + j] = values[i % (rows / 20) * dimension + j] + 0.7f * values[i * dimension + j];
    }
  }
  return values;
}

TEST("cells: a search by them finds the nearest rows of a filter, for rows of every shape, with sketches and without") {
  constexpr std::size_t kRows = 6000;
  constexpr std::size_t kQueries = 25;
  for (Shape shape : {Shape::kClustered, Shape::kScattered, Shape::kTwins}) {
    for (const bool sketched : {true, false}) {
      // The short form has each shape, and each of the two, once.
      if (!test::is_long_form() && sketched != (shape == Shape::kScattered)) continue;
      const std::size_t dimension = sketched ? 200 : 100;
      const auto data = shaped(shape, kRows + kQueries, dimension);
      const std::span<const float> all(data);
      const auto type = sketched ? VectorType::kF32 : VectorType::kI10;
      const auto index =
          HnswIndex::build(all.first(kRows * dimension), dimension, {{.m = 8, .ef_construction = 30}, type});
      CHECK_EQ(index->parts().sketches.empty(), !sketched);
      std::mt19937_64 random(test::seed());
      double recall = 0;
      for (std::size_t q = 0; q < kQueries; ++q) {
        const auto query = all.subspan((kRows + q) * dimension, dimension);
        const Bitmap filter = test::random_filter(kRows, 0.4, random);
        const SearchResult found = index->search(query, {.filter = &filter});
        const auto wanted = index->search(query, {.filter = &filter, .path = SearchPath::kExact});
        CHECK(wanted.plan.path == SearchPath::kExact && wanted.plan.exact);
        CHECK_EQ(found.hits.size(), 10u);
        CHECK(std::is_sorted(found.hits.begin(), found.hits.end(), NearestFirst()));
        for (const Scored& hit : found.hits) CHECK(filter.test(hit.ordinal));
        CHECK(found.plan.path != SearchPath::kExact && !found.plan.exact);  // what may have been missed is not exact
        CHECK(index->search(query, {.filter = &filter}).hits == found.hits);
        recall += test::recall(found.hits, wanted.hits) / kQueries;
      }
      CHECK(recall >= 0.985);
    }
  }
}

TEST("cells: as many rows as match are found when more are asked for than that") {
  constexpr std::size_t kDimension = 192;
  const auto rows = test::normal_values(3000 * kDimension, test::seed());
  for (VectorType type : {VectorType::kF16, VectorType::kI10}) {
    const auto index = HnswIndex::build(rows, kDimension, {{.m = 4, .ef_construction = 8}, type});
    Bitmap filter(3000, true);
    for (std::size_t i = 0; i < 500; ++i) filter.reset(5 * i);
    const auto found = index->search(std::span(rows).first(kDimension), {.k = 2600, .filter = &filter});
    CHECK_EQ(found.hits.size(), 2500u);
    std::vector<bool> seen(3000);
    for (const Scored& hit : found.hits) {
      CHECK(filter.test(hit.ordinal) && !seen[hit.ordinal]);
      seen[hit.ordinal] = true;
    }
  }
}

TEST("cells: rows that are the same, zero rows and a zero query are searched like any others") {
  constexpr std::size_t kDimension = 192;
  for (float value : {0.0f, 1.0f}) {
    const std::vector<float> rows(3000 * kDimension, value);
    const auto index = HnswIndex::build(rows, kDimension, {{.m = 4, .ef_construction = 8}, VectorType::kF32});
    Bitmap filter(3000, true);
    filter.reset(0);
    for (float of_query : {0.0f, 1.0f}) {
      const std::vector<float> query(kDimension, of_query);
      const auto found = index->search(query, {.filter = &filter});
      REQUIRE(found.hits.size() == 10);
      for (const Scored& hit : found.hits) CHECK(std::fabs(hit.score - (1 - value * of_query)) < 1e-3f);
    }
  }
}

TEST("cells: numbers that a damaged file holds give wrong results at worst") {
  constexpr std::size_t kDimension = 192;
  constexpr std::size_t kRows = 3000;
  const auto rows = test::normal_values(kRows * kDimension, test::seed());
  const auto good = HnswIndex::build(rows, kDimension, {{.m = 4, .ef_construction = 8}, VectorType::kF32});
  Bitmap filter(kRows, true);
  filter.reset(1);
  const auto& whole = good->parts();
  for (std::size_t damaged : {std::size_t{1}, std::size_t{2}, kRows}) {  // every row, every other one, the first
    std::vector<std::byte> bytes(whole.sketches.row_bytes().begin(), whole.sketches.row_bytes().end());
    const SketchNumbers broken{NAN, INFINITY, -INFINITY};
    for (std::size_t i = 0; i < kRows; i += damaged) {
      std::memcpy(bytes.data() + i * whole.sketches.stride() + kDimension / 8, &broken, sizeof(broken));
    }
    std::vector<float> scales(whole.cells.size(), damaged == 1 ? NAN : 1e30f);
    HnswParts parts;
    parts.params = whole.params;
    const VectorMatrix::Memory f32{whole.rows.row_bytes().data(), nullptr, nullptr};
    parts.rows = VectorMatrix::view(VectorType::kF32, kRows, kDimension, f32, nullptr);
    const VectorMatrix::Memory codes{whole.codes.matrix.row_bytes().data(), whole.codes.matrix.scale_values().data(),
                                     nullptr};
    parts.codes.matrix = VectorMatrix::view(VectorType::kI8, kRows, kDimension, codes, nullptr);
    parts.codes.row_error = whole.codes.row_error;
    const VectorMatrix::Memory centres{whole.cells.centres().row_bytes().data(), scales.data(), nullptr};
    parts.cells = Cells::view({VectorMatrix::view(VectorType::kI8, whole.cells.size(), kDimension, centres, nullptr),
                               whole.cells.starts(), whole.cells.members(), whole.cells.radii(), nullptr},
                              "it");
    parts.sketches = Sketches::view(kRows, kDimension, whole.sketches.mean().data(), bytes.data(), nullptr);
    parts.graph = Graph(whole.graph.view(), nullptr);
    const HnswIndex bad(std::move(parts));
    const auto found = bad.search(std::span(rows).first(kDimension), {.filter = &filter});
    CHECK(std::is_sorted(found.hits.begin(), found.hits.end(), NearestFirst()));
    CHECK_EQ(found.hits.size(), 10u);
  }
}

TEST("cells: what does not divide the rows is refused") {
  const auto values = test::clustered_rows(500, 64, 8, test::seed());
  const Cells good = cells_of(values, 64);
  const auto refusal = [&](auto&& spoil) {
    std::vector<std::uint32_t> starts(good.starts().begin(), good.starts().end());
    std::vector<std::uint32_t> members(good.members().begin(), good.members().end());
    std::vector<float> radii(good.radii().begin(), good.radii().end());
    spoil(starts, members, radii);
    const VectorMatrix::Memory centres{good.centres().row_bytes().data(), good.centres().scale_values().data(),
                                       nullptr};
    try {
      Cells::view(
          {VectorMatrix::view(VectorType::kI8, good.size(), 64, centres, nullptr), starts, members, radii, nullptr},
          "the file");
    } catch (const Error& error) {
      CHECK(error.code() == Code::kCorrupt);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  CHECK_EQ(refusal([](auto&, auto&, auto&) {}), "");
  CHECK(says(refusal([](auto& starts, auto&, auto&) { starts[0] = 1; }),
             "the file: the ranges of its cells are invalid"));
  CHECK(says(refusal([](auto& starts, auto&, auto&) { starts.back() += 1; }), "ranges of its cells"));
  CHECK(says(refusal([](auto& starts, auto&, auto&) { starts[1] = 0xffffffffu; }), "ranges of its cells"));
  CHECK(says(refusal([](auto&, auto& members, auto&) { members[3] = 500; }), "every row once"));
  CHECK(says(refusal([](auto&, auto& members, auto&) { members[3] = members[4]; }), "every row once"));
  for (float radius : {-0.5f, 2.5f, NAN, INFINITY}) {
    CHECK(says(refusal([radius](auto&, auto&, auto& radii) { radii[0] = radius; }), "radius"));
  }
}

}  // namespace
}  // namespace lorekeep::vector
