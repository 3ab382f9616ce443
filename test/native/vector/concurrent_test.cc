// Concurrent use; the ThreadSanitizer run includes this test.
#include <thread>
#include <utility>

#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"
#include "vector/scan.h"

namespace lorekeep::vector {
namespace {

using test::clustered_rows;

TEST("parallel build: the graph is valid, recall is the same as with one thread, progress is not mixed up") {
  const auto data = clustered_rows(3030, 64, 30, test::seed());
  const auto rows = std::span<const float>(data).first(3000 * 64);
  ThreadPool pool(3);
  std::size_t last = 0;
  const auto index = HnswIndex::build(rows, 64, {}, {&pool, 4}, [&](std::size_t done, std::size_t) {
    CHECK(done > last);
    last = done;
  });
  CHECK_EQ(last, 3000u);
  validate_graph(index->parts().graph.view(), "built graph");
  const auto truth = FlatIndex::build(rows, 64, VectorType::kF32, {&pool, 4});
  double total = 0;
  for (std::size_t q = 0; q < 30; ++q) {
    const auto query = std::span<const float>(data).subspan((3000 + q) * 64, 64);
    total += test::recall(index->search(query, {.path = SearchPath::kGraph}).hits, truth->search(query, {}).hits) / 30;
  }
  CHECK(total >= 0.98);
}

TEST("parallel build: a raised token stops all threads") {
  const auto rows = clustered_rows(4000, 32, 30, test::seed() + 1);
  ThreadPool pool(3);
  CancelToken cancel;
  CHECK_FAILS(Code::kCancelled, HnswIndex::build(rows, 32, {}, {&pool, 4, &cancel}, [&](std::size_t done, std::size_t) {
                if (done >= 500) cancel.cancel();
              }));
}

TEST("parallel build: two at once on one pool do not disturb each other") {
  const auto rows = clustered_rows(1000, 32, 10, test::seed() + 2);
  ThreadPool pool(3);
  std::shared_ptr<const HnswIndex> built[2];
  std::thread other([&] { built[1] = HnswIndex::build(rows, 32, {}, {&pool, 4}); });
  built[0] = HnswIndex::build(rows, 32, {}, {&pool, 4});
  other.join();
  for (const auto& index : built) validate_graph(index->parts().graph.view(), "built graph");
}

TEST("concurrent searches give what one thread gives") {
  const auto rows = clustered_rows(3000, 64, 30, test::seed() + 3);
  const auto index = HnswIndex::build(rows, 64, {{.m = 8, .ef_construction = 60}, VectorType::kF32});
  std::mt19937_64 random(test::seed());
  const Bitmap filter = test::random_filter(3000, 0.5, random);
  const auto queries = std::span<const float>(rows).first(100 * 64);
  for (SearchOptions options :
       {SearchOptions{.path = SearchPath::kGraph}, SearchOptions{.filter = &filter, .path = SearchPath::kGraph},
        SearchOptions{.filter = &filter, .path = SearchPath::kExact}}) {
    ThreadPool pool(3);
    options.work = {&pool, 4};
    const auto together = index->search_many(queries, options);
    REQUIRE(together.size() == 100);
    for (std::size_t q = 0; q < 100; ++q) {
      const SearchResult alone = index->search(queries.subspan(q * 64, 64), options);
      CHECK(together[q].hits == alone.hits);
      CHECK_EQ(together[q].plan.visited, alone.plan.visited);
    }
  }
}

TEST("a search by cells that shares its work finds what one thread finds, and ends when it is told to") {
  constexpr std::size_t kRows = 12000;
  constexpr std::size_t kDimension = 192;
  // Without structure: cells rule out little, so much is left to be shared.
  const auto values = test::normal_values((kRows + 8) * kDimension, test::seed() + 5);
  const auto rows = std::span<const float>(values).first(kRows * kDimension);
  ThreadPool pool(3, std::chrono::microseconds(100));
  const auto index =
      HnswIndex::build(rows, kDimension, {{.m = 4, .ef_construction = 10}, VectorType::kF32}, {&pool, 4});
  std::mt19937_64 random(test::seed());
  const Bitmap filter = test::random_filter(kRows, 0.9, random);
  const Bitmap in_cell_order = index->to_cell_order(filter, nullptr);
  for (std::size_t q = 0; q < 8; ++q) {
    const auto query = std::span<const float>(values).subspan((kRows + q) * kDimension, kDimension);
    SearchOptions options{.filter = &filter, .filter_in_cell_order = q % 2 == 0 ? nullptr : &in_cell_order};
    const SearchResult alone = index->search(query, options);
    CHECK(alone.plan.path == SearchPath::kCells);
    CHECK(alone.plan.visited > 8000);
    options.work = {&pool, 2 + q % 3};
    for (int times = 0; times < 5; ++times) {
      const SearchResult shared = index->search(query, options);
      CHECK(shared.hits == alone.hits);
      CHECK_EQ(shared.plan.visited, alone.plan.visited);
    }
    CancelToken cancel;
    cancel.cancel();
    options.work.cancel = &cancel;
    CHECK_FAILS(Code::kCancelled, index->search(query, options));
  }
}

TEST("concurrent searches: an error of one query is the error of all, and a raised token ends them") {
  const auto rows = clustered_rows(500, 16, 5, test::seed() + 4);
  const auto index = HnswIndex::build(rows, 16, {});
  std::vector<float> queries(rows.begin(), rows.begin() + 50 * 16);
  queries[30 * 16] = std::numeric_limits<float>::quiet_NaN();
  ThreadPool pool(2);
  CHECK_FAILS(Code::kInvalidArgument, index->search_many(queries, {.work = {&pool, 3}}));
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, index->search_many(std::span(rows).first(160), {.work = {&pool, 3, &cancel}}));
}

TEST("a scan that several threads share finds what one finds, with codes and without, under any filter") {
  constexpr std::size_t kRows = 12'000;  // enough that it is shared: 4.6 MB of codes
  constexpr std::size_t kDimension = 384;
  const auto data = clustered_rows(kRows + 3, kDimension, 40, test::seed() + 5);
  ThreadPool pool(3);
  const auto rows =
      VectorMatrix::encode(std::span(data).first(kRows * kDimension), kDimension, VectorType::kF32, {&pool, 4});
  const Codes codes = encode_codes(rows, {&pool, 4});
  Bitmap all(kRows);
  Bitmap first_quarter(kRows);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    all.set(row);
    if (row < kRows / 4) first_quarter.set(row);
  }
  for (const Codes* coarse : {static_cast<const Codes*>(nullptr), &codes}) {
    for (const Bitmap* filter :
         {static_cast<const Bitmap*>(nullptr), &std::as_const(all), &std::as_const(first_quarter)}) {
      for (std::size_t q = 0; q < 3; ++q) {
        const auto query = std::span<const float>(data).subspan((kRows + q) * kDimension, kDimension);
        for (const std::size_t k : {std::size_t{1}, std::size_t{25}, kRows}) {
          SearchCounts alone, together;
          const auto expected = scan({rows, coarse, query, k, filter}, alone);
          CHECK(scan({rows, coarse, query, k, filter, {&pool, 4}}, together) == expected);
          CHECK(together.visited >= (filter == &first_quarter ? kRows / 4 : kRows));
        }
      }
    }
  }
  CancelToken cancel;
  cancel.cancel();
  SearchCounts counts;
  const auto query = std::span<const float>(data).first(kDimension);
  CHECK_FAILS(Code::kCancelled, scan({rows, &codes, query, 10, nullptr, {&pool, 4, &cancel}}, counts));
}

}  // namespace
}  // namespace lorekeep::vector
