// Filters of every selectivity, independent of the vectors, correlated with them and averse to them: recall holds,
// min(k, matched) hits come back, and the plan tells the truth.
#include <cmath>
#include <numeric>

#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"
#include "vector/search_plan.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kRows = 12000;
constexpr std::size_t kDimension = 64;
constexpr std::size_t kQueries = 12;

struct Fixture {
  std::vector<float> data = test::clustered_rows(kRows + kQueries, kDimension, 60, test::seed());
  std::span<const float> rows = std::span<const float>(data).first(kRows * kDimension);
  std::shared_ptr<const HnswIndex> index =
      HnswIndex::build(rows, kDimension, {{.m = 12, .ef_construction = 80}, VectorType::kF32});
  std::shared_ptr<const FlatIndex> truth = FlatIndex::build(rows, kDimension);

  std::span<const float> query(std::size_t q) const {
    return std::span<const float>(data).subspan((kRows + q) * kDimension, kDimension);
  }
};

const Fixture& fixture() {
  static const Fixture made;
  return made;
}

enum class Relation { kIndependent, kNear, kFar };

Bitmap make_filter(Relation relation, double share, std::span<const float> query, std::mt19937_64& random) {
  if (relation == Relation::kIndependent) return test::random_filter(kRows, share, random);
  const auto all = fixture().truth->search(query, {.k = kRows}).hits;
  const auto count = static_cast<std::size_t>(share * kRows);
  Bitmap filter(kRows);
  for (std::size_t i = 0; i < count; ++i) {
    filter.set(all[relation == Relation::kNear ? i : kRows - 1 - i].ordinal);
  }
  return filter;
}

/// Calls `check` for every relation with every share, in the short form for every other one.
template <class Check>
void for_each_filter(std::initializer_list<double> shares, Check&& check) {
  std::size_t number = 0;
  for (const Relation relation : {Relation::kIndependent, Relation::kNear, Relation::kFar}) {
    for (const double share : shares) {
      if (number++ % test::repetitions(2, 1) == 0) check(relation, share);
    }
  }
}

double recall_under(Relation relation, double share, SearchPath path) {
  std::mt19937_64 random(test::seed() + 1);
  double total = 0;
  for (std::size_t q = 0; q < kQueries; ++q) {
    const Bitmap filter = make_filter(relation, share, fixture().query(q), random);
    const std::size_t matched = filter.count();
    const SearchResult found = fixture().index->search(fixture().query(q), {.filter = &filter, .path = path});
    const auto wanted = fixture().truth->search(fixture().query(q), {.filter = &filter}).hits;
    const std::size_t expected = std::min<std::size_t>(10, matched);
    CHECK_EQ(found.hits.size(), expected);
    CHECK_EQ(found.plan.matched, matched);
    CHECK(std::is_sorted(found.hits.begin(), found.hits.end(), NearestFirst()));
    for (const Scored& hit : found.hits) CHECK(filter.test(hit.ordinal));
    if (found.plan.exact) CHECK(found.hits == wanted);
    const Bitmap in_cell_order = fixture().index->to_cell_order(filter, nullptr);
    const SearchResult again = fixture().index->search(
        fixture().query(q), {.filter = &filter, .filter_in_cell_order = &in_cell_order, .path = path});
    CHECK(again.hits == found.hits);
    CHECK_EQ(again.plan.visited, found.plan.visited);
    total += test::recall(found.hits, wanted) / kQueries;
  }
  return total;
}

TEST("filtered: recall holds at every selectivity and relation, whichever branch is taken") {
  for_each_filter({0.95, 0.5, 0.3, 0.1, 0.03, 0.01, 0.001, 0.0001}, [](Relation relation, double share) {
    CHECK(recall_under(relation, share, SearchPath::kAuto) >= 0.99);
  });
}

TEST("filtered: a walk that is asked for keeps its recall, or gives way to another search") {
  for_each_filter({0.95, 0.5, 0.2, 0.05, 0.002}, [](Relation relation, double share) {
    CHECK(recall_under(relation, share, SearchPath::kGraph) >= 0.98);
  });
}

TEST(
    "filtered: a walk that the filter keeps from the query's neighbourhood ends among the cells, and the plan says "
    "so") {
  std::mt19937_64 random(test::seed() + 2);
  const Bitmap far = make_filter(Relation::kFar, 0.5, fixture().query(0), random);
  const SearchResult found = fixture().index->search(fixture().query(0), {.filter = &far, .path = SearchPath::kGraph});
  CHECK(found.plan.path == SearchPath::kCells && !found.plan.exact);
  CHECK(found.plan.hops > 0);
  const Bitmap near = make_filter(Relation::kNear, 0.5, fixture().query(0), random);
  CHECK(fixture().index->search(fixture().query(0), {.filter = &near, .path = SearchPath::kGraph}).plan.path ==
        SearchPath::kGraph);
}

TEST("filtered: few matches are scanned, and only those; of many the near cells are; all are walked") {
  Bitmap few(kRows);
  for (std::size_t i = 0; i < 100; ++i) few.set(i * 97);
  const VectorPlan scanned = fixture().index->search(fixture().query(0), {.filter = &few}).plan;
  CHECK(scanned.path == SearchPath::kExact && scanned.exact);
  CHECK_EQ(scanned.matched, 100u);
  CHECK(scanned.visited <= 200);  // by code, and the nearest of those on their rows
  CHECK_EQ(scanned.hops, 0u);
  Bitmap many(kRows, true);
  many.reset(7);
  const VectorPlan ranked = fixture().index->search(fixture().query(0), {.filter = &many}).plan;
  CHECK(ranked.path == SearchPath::kCells && !ranked.exact);
  CHECK(ranked.visited < kRows / 2);  // cells that hold nothing near are passed over
  const Bitmap all(kRows, true);
  const VectorPlan walked = fixture().index->search(fixture().query(0), {.filter = &all}).plan;
  CHECK(walked.path == SearchPath::kGraph && !walked.exact);
  CHECK(walked.visited < kRows / 2);
}

TEST("filtered: a filter that passes nothing gives nothing, a filter that passes one row gives that row") {
  const Bitmap none(kRows);
  Bitmap one(kRows);
  one.set(kRows - 1);
  for (SearchPath path : {SearchPath::kAuto, SearchPath::kExact, SearchPath::kGraph}) {
    CHECK(fixture().index->search(fixture().query(1), {.filter = &none, .path = path}).hits.empty());
    const auto hits = fixture().index->search(fixture().query(1), {.filter = &one, .path = path}).hits;
    REQUIRE(hits.size() == 1);
    CHECK_EQ(hits[0].ordinal, kRows - 1);
  }
}

TEST("plan: scanning is chosen for small sets and rare matches, walking for the rest") {
  const auto scans = [](std::size_t size, std::size_t matched, std::size_t ef) {
    return scan_is_better(size, matched, filtered_ef(size, matched, ef, 10));
  };
  CHECK(scans(0, 0, 64));
  CHECK(scans(1000, 1000, 64));
  CHECK(!scans(100000, 100000, 64));
  CHECK(scans(100000, 10000, 64));
  CHECK(!scans(100000, 50000, 64));
  CHECK(scans(100000, 50000, 2000));
  CHECK(scans(10000000, 50000, 64));
}

TEST("plan: a filter widens the walk, more so the less it lets through; without one the width is ef") {
  CHECK_EQ(filtered_ef(1000, 1000, 64, 10), 64u);
  CHECK(filtered_ef(1000, 999, 64, 10) > 64);
  CHECK(filtered_ef(1000, 500, 64, 10) < filtered_ef(1000, 100, 64, 10));
  CHECK_EQ(filtered_ef(1000, 1, 64, 10), 1000u);
  CHECK(filtered_ef(1000, 0, 64, 10) > 64);
}

TEST("plan: walks of the indexes of a collection meet as many rows together as one walk of all rows") {
  CHECK_EQ(shared_ef(100000, 100000, 96), 96u);  // as many rows as live ones in all
  CHECK_EQ(shared_ef(100000, 50000, 96), 192u);  // half of the rows are removed
  CHECK_EQ(shared_ef(90000, 120000, 96), 72u);
  CHECK_EQ(shared_ef(10000, 120000, 96), kMinSharedEf);
  CHECK_EQ(shared_ef(10000, 120000, 20), 20u);  // a width that was asked for
  CHECK_EQ(shared_ef(100000, 1, 96), 100000u);
  CHECK_EQ(shared_ef(100000, 0, 96), 100000u);
}

TEST("plan: a walk is sound while distances grow behind what is wanted") {
  std::vector<Scored> slope(100);
  for (std::size_t i = 0; i < slope.size(); ++i) {
    slope[i] = {std::pow(static_cast<float>(i + 1), 0.3f) / 10, static_cast<std::uint32_t>(i)};
  }
  CHECK(walk_is_sound(slope, 20, 90));
  CHECK(!walk_is_sound(slope, 80, 90));   // no room behind
  CHECK(!walk_is_sound(slope, 101, 90));  // not reached
  CHECK(!walk_is_sound(slope, 0, 0));
  CHECK(walk_is_sound(slope, 100, 0));
  std::vector<Scored> plateau(100, {0.9f, 0});
  CHECK(!walk_is_sound(plateau, 20, 90));
  for (std::size_t i = 0; i < 20; ++i) plateau[i].score = 0.3f;
  CHECK(walk_is_sound(plateau, 10, 90));  // what is wanted ends before the plateau
  CHECK(!walk_is_sound(std::vector<Scored>(100, {0.0f, 0}), 20,
                       90));  // copies of the query: lower ordinals may lie behind
}

}  // namespace
}  // namespace lorekeep::vector
