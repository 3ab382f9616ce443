// The stated bar at its full size; too slow under sanitizers.
#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"

namespace lorekeep::vector {
namespace {

TEST("recall@10 is at least 0.98 at ef 64 on 50,000 clustered 384-d vectors") {
  constexpr std::size_t kRows = 50000;
  constexpr std::size_t kDimension = 384;
  constexpr std::size_t kQueries = 200;
  const auto data = test::clustered_rows(kRows + kQueries, kDimension, 200, test::seed());
  const auto rows = std::span(data).first(kRows * kDimension);
  const std::size_t workers = usable_threads();
  ThreadPool pool(workers);
  const auto index = HnswIndex::build(rows, kDimension, {}, {&pool, workers});
  const auto truth = FlatIndex::build(rows, kDimension, VectorType::kF32, {&pool, workers});
  double total = 0;
  for (std::size_t q = 0; q < kQueries; ++q) {
    const auto query = std::span(data).subspan((kRows + q) * kDimension, kDimension);
    const SearchResult found = index->search(query, {.ef = 64});
    CHECK(found.plan.path == SearchPath::kGraph);
    total += test::recall(found.hits, truth->search(query, {}).hits) / kQueries;
  }
  std::printf("    recall@10 at ef 64: %.4f\n", total);
  CHECK(total >= 0.98);
}

}  // namespace
}  // namespace lorekeep::vector
