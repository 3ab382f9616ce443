#include "vector/hnsw_index.h"

#include <cstring>
#include <limits>

#include "sample_vectors.h"
#include "vector/flat_index.h"

namespace lorekeep::vector {
namespace {

using test::clustered_rows;

bool same_graph(const HnswIndex& a, const HnswIndex& b) {
  const auto equal = [](auto x, auto y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  return a.parts().graph.view().entry == b.parts().graph.view().entry &&
         equal(a.parts().graph.base_values(), b.parts().graph.base_values()) &&
         equal(a.parts().graph.upper_start_values(), b.parts().graph.upper_start_values()) &&
         equal(a.parts().graph.upper_values(), b.parts().graph.upper_values());
}

struct Recall {
  double walk = 0;
  double exact = 0;
};

Recall recall_of(const HnswIndex& index, const FlatIndex& truth, std::span<const float> queries, std::size_t ef) {
  const std::size_t count = queries.size() / truth.dimension();
  Recall total;
  for (std::size_t q = 0; q < count; ++q) {
    const auto query = queries.subspan(q * truth.dimension(), truth.dimension());
    const auto wanted = truth.search(query, {}).hits;
    const SearchResult walked = index.search(query, {.ef = ef, .path = SearchPath::kGraph});
    CHECK(walked.plan.path == SearchPath::kGraph && !walked.plan.exact);
    CHECK_EQ(walked.hits.size(), 10u);
    total.walk += test::recall(walked.hits, wanted) / static_cast<double>(count);
    const SearchResult scanned = index.search(query, {.path = SearchPath::kExact});
    CHECK(scanned.plan.exact);
    total.exact += scanned.hits == wanted ? 1.0 / static_cast<double>(count) : 0;
  }
  return total;
}

TEST("hnsw: high recall with codes and without, and an exact search equals the flat index bit for bit") {
  for (std::size_t dimension : {std::size_t{96}, std::size_t{24}}) {
    const std::size_t count = test::repetitions(1500, 4000);
    const auto data = clustered_rows(count + 50, dimension, 40, test::seed());
    const auto rows = std::span(data).first(count * dimension);
    const auto index = HnswIndex::build(rows, dimension, {});
    CHECK_EQ(index->parts().codes.empty(), dimension < kMinCodedDimension);
    const auto truth = FlatIndex::build(rows, dimension);
    const Recall found = recall_of(*index, *truth, std::span(data).subspan(rows.size()), 64);
    CHECK(found.walk >= 0.98);
    CHECK_NEAR(found.exact, 1.0, 1e-9);
  }
}

TEST("hnsw: an exact search of any depth, and rows scored one by one, give the flat index's distances") {
  constexpr std::size_t kRows = 2500;
  const auto data = clustered_rows(kRows + 5, 96, 40, test::seed() + 2);
  const auto rows = std::span<const float>(data).first(kRows * 96);
  for (const auto type : {VectorType::kF32, VectorType::kF16, VectorType::kI10}) {
    const auto index = HnswIndex::build(rows, 96, {{.m = 4, .ef_construction = 8}, type});
    const auto truth = FlatIndex::build(rows, 96, type);
    for (std::size_t q = 0; q < test::repetitions(2, 5); ++q) {
      const auto query = std::span<const float>(data).subspan((kRows + q) * 96, 96);
      for (const std::size_t k : {std::size_t{1}, std::size_t{63}, std::size_t{200}, kRows - 1, kRows}) {
        SearchOptions options;
        options.k = k;
        const auto expected = truth->search(query, options).hits;
        options.path = SearchPath::kExact;
        CHECK(index->search(query, options).hits == expected);
        std::vector<std::uint32_t> ordinals;
        for (const Scored& hit : expected) ordinals.push_back(hit.ordinal);
        std::vector<float> distances(k);
        index->score(query, ordinals, distances);
        for (std::size_t i = 0; i < k; ++i) CHECK(distances[i] == expected[i].score);
      }
    }
  }
}

TEST("hnsw: f16 rows lose nearly nothing, i8 rows hardly more, and both are smaller") {
  const std::size_t count = test::repetitions(1000, 4000);
  const auto data = clustered_rows(count + 50, 128, 40, test::seed() + 1);
  const auto rows = std::span<const float>(data).first(count * 128);
  const auto queries = std::span<const float>(data).subspan(rows.size());
  const auto truth = FlatIndex::build(rows, 128);
  const auto walk = [&](const HnswIndex& index) {
    double total = 0;
    for (std::size_t q = 0; q < 50; ++q) {
      const auto query = queries.subspan(q * 128, 128);
      total += test::recall(index.search(query, {.path = SearchPath::kGraph}).hits, truth->search(query, {}).hits) / 50;
    }
    return total;
  };
  const auto f32 = HnswIndex::build(rows, 128, {});
  const auto f16 = HnswIndex::build(rows, 128, {{}, VectorType::kF16});
  const auto i8 = HnswIndex::build(rows, 128, {{}, VectorType::kI10});
  CHECK(walk(*f16) >= walk(*f32) - 0.01);
  CHECK(walk(*i8) >= walk(*f32) - 0.01);
  CHECK(f16->memory_bytes() < f32->memory_bytes());
  CHECK(i8->memory_bytes() < f16->memory_bytes());
  CHECK(i8->parts().rows.bytes() * 3 < f32->parts().rows.bytes());
}

TEST("hnsw: one thread, the same rows and seed give the same graph and results; another seed another graph") {
  const auto rows = clustered_rows(1500, 64, 15, test::seed() + 2);
  const auto first = HnswIndex::build(rows, 64, {});
  const auto second = HnswIndex::build(rows, 64, {});
  const auto other = HnswIndex::build(rows, 64, {{.seed = 101}, VectorType::kF32});
  CHECK(same_graph(*first, *second));
  CHECK(!same_graph(*first, *other));
  for (std::size_t q = 0; q < 20; ++q) {
    const auto query = std::span(rows).subspan(q * 64, 64);
    const SearchResult a = first->search(query, {.path = SearchPath::kGraph});
    const SearchResult b = second->search(query, {.path = SearchPath::kGraph});
    CHECK(a.hits == b.hits);
    CHECK_EQ(a.plan.visited, b.plan.visited);
  }
}

TEST("hnsw: the input need not be normalised and its scale does not matter") {
  const auto rows = clustered_rows(500, 64, 5, test::seed() + 3);
  std::vector<float> scaled = rows;
  for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= 1024.0f;
  const auto a = HnswIndex::build(rows, 64, {});
  const auto b = HnswIndex::build(scaled, 64, {});
  CHECK(same_graph(*a, *b));
  CHECK(a->row(7) == b->row(7));
}

TEST("hnsw: equal distances come in record order, duplicates included") {
  const auto some = clustered_rows(40, 64, 4, test::seed() + 4);
  std::vector<float> rows;
  for (int copy = 0; copy < 8; ++copy) rows.insert(rows.end(), some.begin(), some.end());
  const auto index = HnswIndex::build(rows, 64, {});
  for (SearchPath path : {SearchPath::kGraph, SearchPath::kExact, SearchPath::kAuto}) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      const auto hits = index->search(std::span(rows).subspan(i * 64, 64), {.k = 8, .path = path}).hits;
      REQUIRE(hits.size() == 8);
      for (std::uint32_t copy = 0; copy < 8; ++copy) CHECK_EQ(hits[copy].ordinal, i + copy * 40);
      for (const Scored& hit : hits) CHECK_EQ(hit.score, hits[0].score);
    }
  }
}

TEST("hnsw: a set of nothing but duplicates is searched and returned in order") {
  const std::vector<float> rows(test::repetitions(600, 3000) * 64, 1.0f);
  const auto index = HnswIndex::build(rows, 64, {});
  const auto graph = index->search(std::span(rows).first(64), {.k = 30, .path = SearchPath::kGraph});
  CHECK_EQ(graph.hits.size(), 30u);
  const auto exact = index->search(std::span(rows).first(64), {.k = 30, .path = SearchPath::kExact});
  for (std::uint32_t i = 0; i < 30; ++i) CHECK_EQ(exact.hits[i].ordinal, i);
}

TEST("hnsw: none, one, two, dimension 1, and more asked for than there are") {
  const std::vector<float> query{1.0f};
  for (SearchPath path : {SearchPath::kGraph, SearchPath::kExact, SearchPath::kAuto}) {
    const auto none = HnswIndex::build({}, 1, {});
    CHECK(none->search(query, {.path = path}).hits.empty());
    const auto one = HnswIndex::build(std::vector<float>{-2.0f}, 1, {});
    CHECK(one->search(query, {.k = 5, .path = path}).hits == (std::vector<Scored>{{2.0f, 0}}));
    const auto three = HnswIndex::build(std::vector<float>{-2.0f, 0.0f, 4.0f}, 1, {});
    CHECK(three->search(query, {.k = 1000, .path = path}).hits ==
          (std::vector<Scored>{{0.0f, 2}, {1.0f, 1}, {2.0f, 0}}));
  }
}

TEST("hnsw: k beyond ef widens the search") {
  const auto rows = clustered_rows(3000, 64, 10, test::seed() + 5);
  const auto index = HnswIndex::build(rows, 64, {});
  const auto result = index->search(std::span(rows).first(64), {.k = 500, .ef = 10, .path = SearchPath::kGraph});
  CHECK_EQ(result.hits.size(), 500u);
  CHECK(result.plan.path == SearchPath::kGraph);
}

TEST("hnsw: misuse is refused") {
  const auto rows = clustered_rows(300, 8, 3, test::seed() + 6);
  const auto build = [&](GraphParams graph) { return HnswIndex::build(rows, 8, {graph, VectorType::kF32}); };
  CHECK_FAILS(Code::kInvalidArgument, build({.m = 1}));
  CHECK_FAILS(Code::kInvalidArgument, build({.m = kMaxM + 1}));
  CHECK_FAILS(Code::kInvalidArgument, build({.ef_construction = 0}));
  CHECK_FAILS(Code::kInvalidArgument, build({.ef_construction = kMaxEfConstruction + 1}));
  const auto index = build({.m = 2, .ef_construction = 1});
  CHECK_EQ(index->search(std::span(rows).first(8), {}).hits.size(), 10u);
  CHECK_FAILS(Code::kDimensionMismatch, index->search(std::span(rows).first(7), {}));
  CHECK_FAILS(Code::kInvalidArgument, index->search(std::span(rows).first(8), {.k = 0}));
  std::vector<float> broken(rows.begin(), rows.end());
  broken[8 * 17 + 3] = std::numeric_limits<float>::quiet_NaN();
  try {
    HnswIndex::build(broken, 8, {});
    CHECK(false);
  } catch (const Error& error) {
    CHECK_EQ(std::string(error.what()), "row 17: value 3 is NaN");
  }
}

TEST("hnsw: progress rises to the end, and a raised token ends the build in the middle") {
  const auto rows = clustered_rows(3000, 16, 10, test::seed() + 7);
  std::vector<std::size_t> seen;
  HnswIndex::build(rows, 16, {}, {}, [&](std::size_t done, std::size_t total) {
    CHECK_EQ(total, 3000u);
    seen.push_back(done);
  });
  CHECK(seen.size() >= 50);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK_EQ(seen.back(), 3000u);
  CancelToken cancel;
  std::size_t last = 0;
  CHECK_FAILS(Code::kCancelled, HnswIndex::build(rows, 16, {}, {.cancel = &cancel}, [&](std::size_t done, std::size_t) {
                last = done;
                if (done >= 1000) cancel.cancel();
              }));
  CHECK(last >= 1000 && last < 1100);
}

TEST("hnsw: what a progress callback throws ends the build and arrives") {
  const auto rows = clustered_rows(600, 16, 10, test::seed() + 7);
  CHECK_FAILS(Code::kClosed,
              HnswIndex::build(rows, 16, {}, {}, [](std::size_t, std::size_t) { fail(Code::kClosed, "enough"); }));
}

TEST("hnsw: a raised token ends a search on either path") {
  const auto rows = clustered_rows(5000, 16, 10, test::seed() + 8);
  const auto index = HnswIndex::build(rows, 16, {{.m = 8, .ef_construction = 40}, VectorType::kF32});
  CancelToken cancel;
  cancel.cancel();
  for (SearchPath path : {SearchPath::kGraph, SearchPath::kExact}) {
    CHECK_FAILS(Code::kCancelled,
                index->search(std::span(rows).first(16), {.ef = 200, .path = path, .work = {.cancel = &cancel}}));
  }
}

}  // namespace
}  // namespace lorekeep::vector
