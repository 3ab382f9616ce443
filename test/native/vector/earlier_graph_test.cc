#include "vector/earlier_graph.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "sample_vectors.h"
#include "vector/flat_index.h"
#include "vector/hnsw_index.h"
#include "vector/index_file.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kDimension = 64;
constexpr std::size_t kRows = 1500;

using Rows = std::vector<float>;

Rows sample(std::size_t count, std::uint64_t salt) {
  return test::clustered_rows(count, kDimension, 40, test::seed() + salt);
}

std::shared_ptr<const HnswIndex> build(const Rows& rows, const HnswParams& params = {},
                                       const HnswIndex* earlier = nullptr, std::size_t dimension = kDimension) {
  const auto index = HnswIndex::build(rows, dimension, params, {}, {}, earlier);
  validate_graph(index->parts().graph.view(), "the test's graph");
  return index;
}

bool same_lists(const HnswIndex& a, const HnswIndex& b) {
  const auto equal = [](auto x, auto y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  return equal(a.parts().graph.base_values(), b.parts().graph.base_values()) &&
         equal(a.parts().graph.upper_values(), b.parts().graph.upper_values());
}

double recall(const HnswIndex& index, const Rows& rows, const Rows& queries) {
  const auto truth = FlatIndex::build(rows, kDimension);
  const std::size_t count = queries.size() / kDimension;
  double total = 0;
  for (std::size_t q = 0; q < count; ++q) {
    const auto query = std::span(queries).subspan(q * kDimension, kDimension);
    const auto hits = index.search(query, {.ef = 64, .path = SearchPath::kGraph}).hits;
    total += test::recall(hits, truth->search(query, {}).hits) / static_cast<double>(count);
  }
  return total;
}

std::span<const float> row(const Rows& rows, std::size_t i) {
  return std::span(rows).subspan(i * kDimension, kDimension);
}

/// The rows in another order, without a random share of them, and with as many new ones.
Rows changed(const Rows& rows, double share, const Rows& fresh, std::mt19937_64& random) {
  std::vector<std::size_t> order(rows.size() / kDimension);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  const auto gone = static_cast<std::size_t>(share * static_cast<double>(order.size()));
  Rows next;
  for (std::size_t i = gone; i < order.size(); ++i) {
    const auto kept = row(rows, order[i]);
    next.insert(next.end(), kept.begin(), kept.end());
  }
  for (std::size_t i = 0; i < gone; ++i) {
    const auto added = row(fresh, random() % (fresh.size() / kDimension));
    next.insert(next.end(), added.begin(), added.end());
  }
  return next;
}

TEST("earlier graph: the same rows keep all links, whatever their type") {
  const Rows rows = sample(kRows, 1);
  for (const VectorType type : {VectorType::kF32, VectorType::kF16, VectorType::kI10}) {
    const auto first = build(rows, {.type = type});
    CHECK_EQ(first->parts().linked, kRows);
    const auto second = build(rows, {.type = type}, first.get());
    CHECK_EQ(second->parts().linked, 0u);
    CHECK(same_lists(*first, *second));
  }
}

TEST("earlier graph: short rows without codes are kept, too") {
  const Rows rows = test::clustered_rows(kRows, 24, 40, test::seed());
  for (const VectorType type : {VectorType::kF32, VectorType::kF16}) {
    const auto first = build(rows, {.type = type}, nullptr, 24);
    CHECK_EQ(build(rows, {.type = type}, first.get(), 24)->parts().linked, 0u);
  }
}

TEST("earlier graph: links of a file that is overwritten while they are taken are not kept") {
  const test::TemporaryFolder folder;
  const auto path = folder / "kb.index";
  const Rows rows = sample(kRows, 1);
  save_index(*build(rows), path, 0);
  const auto loaded = load_index(path).index;
  CHECK_EQ(build(rows, {}, loaded.get())->parts().linked, 0u);
  bool overwritten = false;
  const auto overwrite = [&](std::size_t, std::size_t) {
    if (overwritten) return;
    overwritten = true;
    const std::string zeros(4096, '\0');
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(8192).write(zeros.data(), 4096);
    // A change within a tick of the clock would not be seen.
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  };
  const auto next = HnswIndex::build(rows, kDimension, {}, {}, overwrite, loaded.get());
  CHECK(overwritten);
  CHECK_EQ(next->parts().linked, kRows);
  CHECK(same_lists(*next, *build(rows)));
  std::filesystem::resize_file(path, 4096);
  CHECK_EQ(build(rows, {}, loaded.get())->parts().linked, kRows);
}

TEST("earlier graph: recall holds over many changes, of a few rows or of a fifth") {
  std::mt19937_64 random(test::seed());
  const Rows fresh = sample(kRows, 2);
  const Rows queries = sample(100, 3);
  for (const double share : {0.01, 0.2}) {
    Rows rows = sample(kRows, 4);
    auto index = build(rows);
    for (int round = 0; round < 4; ++round) {
      rows = changed(rows, share, fresh, random);
      const auto next = build(rows, {}, index.get());
      CHECK(next->parts().linked < kRows / 2);
      CHECK(next->parts().linked > 0);
      index = next;
    }
    const double found = recall(*index, rows, queries);
    const double expected = recall(*build(rows), rows, queries);
    std::printf("    recall@10 after four changes of %.0f %%: %.4f, linked at once %.4f\n", 100 * share, found,
                expected);
    CHECK(found >= expected - 0.015);
  }
}

TEST("earlier graph: clusters that vanish, the entry among them, leave every row within reach") {
  const Rows rows = sample(kRows, 5);
  const auto first = build(rows);
  const auto entry = first->parts().graph.view().entry;
  // The rows nearest to the entry: whole clusters.
  const auto gone = first->search(row(rows, entry), {.k = kRows / 5, .path = SearchPath::kExact}).hits;
  std::vector<bool> is_gone(kRows);
  for (const Scored& hit : gone) is_gone[hit.ordinal] = true;
  CHECK(is_gone[entry]);
  Rows rest;
  for (std::size_t i = 0; i < kRows; ++i) {
    if (!is_gone[i]) rest.insert(rest.end(), row(rows, i).begin(), row(rows, i).end());
  }
  const auto second = build(rest, {}, first.get());
  CHECK(second->parts().linked < kRows / 4);
  CHECK(recall(*second, rest, rest) >= 0.98);
}

TEST("earlier graph: repeated rows and zero rows are paired once each") {
  Rows rows = sample(kRows, 6);
  for (std::size_t i = 0; i < 100; ++i) std::copy_n(rows.begin(), kDimension, rows.begin() + i * 7 * kDimension);
  std::fill_n(rows.begin() + 20 * kDimension, kDimension, 0.0f);
  const auto first = build(rows);
  CHECK_EQ(build(rows, {}, first.get())->parts().linked, 0u);
  Rows more = rows;
  for (std::size_t i = 0; i < 50; ++i) more.insert(more.end(), rows.begin(), rows.begin() + kDimension);
  CHECK_EQ(build(more, {}, first.get())->parts().linked, 50u);
}

TEST("earlier graph: other parameters, few rows and many changes link everything") {
  const Rows rows = sample(kRows, 7);
  const auto first = build(rows);
  const auto linked = [&](const Rows& next, const HnswParams& params) {
    return build(next, params, first.get())->parts().linked;
  };
  HnswParams other;
  other.m = 8;
  CHECK_EQ(linked(rows, other), kRows);
  other = {};
  other.ef_construction = 100;
  CHECK_EQ(linked(rows, other), kRows);
  CHECK_EQ(linked(rows, {.type = VectorType::kI10}), kRows);
  std::mt19937_64 random(test::seed());
  CHECK_EQ(linked(changed(rows, 0.4, sample(kRows, 8), random), {}), kRows);
  CHECK_EQ(build(sample(kRows, 9), {}, first.get())->parts().linked, kRows);
  const Rows few(rows.begin(), rows.begin() + 1000 * kDimension);
  const auto small = build(few);
  CHECK_EQ(build(few, {}, small.get())->parts().linked, 1000u);
}

TEST("earlier graph: links that lead nowhere are not kept") {
  constexpr std::uint32_t kRing = 3500;  // enough for walks
  const Rows rows = sample(kRing, 10);
  const auto good = build(rows);
  CHECK(good->parts().calibration.walk_factor > 0);
  // A ring of all rows: valid, but of no use.
  HnswParts parts;
  parts.params = good->params();
  parts.rows = VectorMatrix::encode(rows, kDimension, VectorType::kF32);
  parts.codes = encode_codes(parts.rows, {});
  parts.graph = Graph(kRing, parts.params.m, std::vector<std::uint32_t>(kRing + 1, 0));
  for (std::uint32_t i = 0; i < kRing; ++i) {
    parts.graph.base_list(i)[0] = (i + 1) % kRing;
    parts.graph.base_list(i)[1] = (i + kRing - 1) % kRing;
  }
  parts.graph.set_entry(0, 0);
  const HnswIndex ring(std::move(parts));
  const auto next = build(rows, {}, &ring);
  CHECK_EQ(next->parts().linked, kRing);
  CHECK(same_lists(*next, *good));
}

}  // namespace
}  // namespace lorekeep::vector
