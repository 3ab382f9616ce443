#include "vector/flat_index.h"

#include <limits>

#include "sample_vectors.h"

namespace lorekeep::vector {
namespace {

using test::clustered_rows;
using test::true_distance;

TEST("flat index: the k nearest equal a scan in double") {
  const auto rows = clustered_rows(1500, 33, 20, test::seed());
  const auto queries = clustered_rows(20, 33, 20, test::seed() + 1);
  const auto index = FlatIndex::build(rows, 33);
  for (std::size_t q = 0; q < 20; ++q) {
    const auto query = std::span(queries).subspan(q * 33, 33);
    std::vector<double> truth(1500);
    for (std::size_t i = 0; i < 1500; ++i) truth[i] = true_distance(query, std::span(rows).subspan(i * 33, 33));
    const SearchResult result = index->search(query, {.k = 10});
    REQUIRE(result.hits.size() == 10);
    std::vector<double> sorted = truth;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < 10; ++i) {
      CHECK_NEAR(result.hits[i].score, truth[result.hits[i].ordinal], 1e-6);
      CHECK_NEAR(result.hits[i].score, sorted[i], 1e-6);
    }
    CHECK(result.plan.path == SearchPath::kExact && result.plan.exact);
    CHECK_EQ(result.plan.matched, 1500u);
    CHECK_EQ(result.plan.visited, 1500u);
  }
}

TEST("flat index: a filter restricts, and what it leaves comes back whole") {
  const auto rows = clustered_rows(700, 20, 5, test::seed() + 2);
  const auto index = FlatIndex::build(rows, 20);
  Bitmap filter(700);
  for (std::size_t i : {0, 63, 64, 65, 127, 128, 640, 699}) filter.set(i);
  const SearchResult result = index->search(std::span(rows).first(20), {.k = 100, .filter = &filter});
  CHECK_EQ(result.hits.size(), 8u);
  CHECK_EQ(result.plan.matched, 8u);
  CHECK_EQ(result.plan.visited, 8u);
  CHECK_EQ(result.hits[0].ordinal, 0u);
  for (const Scored& hit : result.hits) CHECK(filter.test(hit.ordinal));
  const Bitmap none(700);
  CHECK(index->search(std::span(rows).first(20), {.filter = &none}).hits.empty());
}

TEST("flat index: a limit leaves out farther rows and no others") {
  constexpr std::size_t kCount = 1500;
  constexpr std::size_t kLength = 64;
  const auto rows = clustered_rows(kCount, kLength, 12, test::seed());
  const auto queries = clustered_rows(20, kLength, 12, test::seed() + 1);
  const auto index = FlatIndex::with_codes(VectorMatrix::encode(rows, kLength, VectorType::kF32, {}), {});
  Bitmap some(kCount);
  for (std::size_t i = 0; i < kCount; i += 3) some.set(i);
  for (std::size_t q = 0; q < 20; ++q) {
    const auto query = std::span(queries).subspan(q * kLength, kLength);
    for (const Bitmap* const filter : {static_cast<const Bitmap*>(nullptr), static_cast<const Bitmap*>(&some)}) {
      const auto all = index->search(query, {.k = 30, .filter = filter}).hits;
      for (const std::size_t within : {0u, 1u, 12u, 29u}) {
        const float limit = all[within].score;
        auto expected = all;
        std::erase_if(expected, [limit](const Scored& hit) { return hit.score > limit; });
        CHECK(index->search(query, {.k = 30, .filter = filter, .limit = limit}).hits == expected);
      }
      CHECK(index->search(query, {.k = 30, .filter = filter, .limit = -1}).hits.empty());
    }
  }
}

TEST("flat index: equal distances come in record order") {
  std::vector<float> rows;
  for (int i = 0; i < 3000; ++i) rows.insert(rows.end(), {1.0f + static_cast<float>(i % 3), 0.0f});
  const auto index = FlatIndex::build(rows, 2);
  const auto hits = index->search(std::vector<float>{5, 0}, {.k = 7}).hits;
  for (std::uint32_t i = 0; i < 7; ++i) CHECK(hits[i] == (Scored{0.0f, i}));
}

TEST("flat index: none, one, and more asked for than there are") {
  const auto none = FlatIndex::build({}, 4);
  CHECK(none->search(std::vector<float>(4, 1.0f), {}).hits.empty());
  const auto one = FlatIndex::build(std::vector<float>{0, 3}, 2);
  const auto hits = one->search(std::vector<float>{0, 1}, {.k = 50}).hits;
  CHECK(hits == (std::vector<Scored>{{0.0f, 0}}));
  CHECK(one->row(0) == (std::vector<float>{0, 1}));
  CHECK_FAILS(Code::kInvalidArgument, one->row(1));
}

TEST("flat index: misuse is refused") {
  const auto index = FlatIndex::build(std::vector<float>(30, 1.0f), 3);
  const std::vector<float> query(3, 1.0f);
  const Bitmap other(11);
  CHECK_FAILS(Code::kDimensionMismatch, index->search(std::vector<float>(4, 1.0f), {}));
  CHECK_FAILS(Code::kInvalidArgument, index->search(query, {.k = 0}));
  CHECK_FAILS(Code::kInvalidArgument, index->search(query, {.filter = &other}));
  CHECK_FAILS(Code::kInvalidArgument, index->search(query, {.ef = kMaxEf + 1}));
  CHECK_FAILS(Code::kInvalidArgument,
              index->search(std::vector<float>{1, std::numeric_limits<float>::infinity(), 0}, {}));
  CHECK_FAILS(Code::kUnsupported, index->search(query, {.path = SearchPath::kGraph}));
  CHECK_FAILS(Code::kDimensionMismatch, index->search_many(std::vector<float>(7, 1.0f), {}));
}

TEST("flat index: a raised token ends a search and a build") {
  const auto rows = clustered_rows(600, 8, 3, test::seed() + 3);
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, FlatIndex::build(rows, 8, VectorType::kF32, {.cancel = &cancel}));
  const auto index = FlatIndex::build(rows, 8);
  CHECK_FAILS(Code::kCancelled, index->search(std::span(rows).first(8), {.work = {.cancel = &cancel}}));
}

TEST("flat index: f16 and i8 rows find nearly what f32 rows find") {
  const auto rows = clustered_rows(3000, 96, 30, test::seed() + 4);
  const auto queries = clustered_rows(30, 96, 30, test::seed() + 4);
  const auto exact = FlatIndex::build(rows, 96);
  for (VectorType type : {VectorType::kF16, VectorType::kI8, VectorType::kI10}) {
    const auto index = FlatIndex::build(rows, 96, type);
    double total = 0;
    for (std::size_t q = 0; q < 30; ++q) {
      const auto query = std::span(queries).subspan(q * 96, 96);
      total += test::recall(index->search(query, {}).hits, exact->search(query, {}).hits);
    }
    CHECK(total / 30 >= (type == VectorType::kI8 ? 0.95 : 0.99));
    CHECK(index->memory_bytes() < exact->memory_bytes() * 6 / 10);
  }
}

}  // namespace
}  // namespace lorekeep::vector
