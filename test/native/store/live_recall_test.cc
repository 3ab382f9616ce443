#include <algorithm>
#include <random>

#include "changing_records.h"
#include "core/threads/thread_pool.h"
#include "harness.h"
#include "store/live_storage.h"
#include "store/prepared_filter.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

/// Records around centres. With fewer than `records` of a filter's matches, searches scan instead.
struct Shape {
  std::size_t records;
  std::size_t dimension;
  std::size_t clusters;
  /// Matches this many records of a hundred.
  std::int64_t filter_below;
  vector::SearchPath filtered_path;
};

/// Without codes and cells, filtered searches walk the graph; with them, they scan cells.
constexpr Shape kGraphs{16'000, 16, 120, 80, vector::SearchPath::kGraph};
constexpr Shape kCells{8'000, 64, 60, 60, vector::SearchPath::kCells};

class Maker {
 public:
  Maker(const Shape& shape, std::mt19937_64& random) : shape_(shape), random_(random) {}

  /// A point near one of the centres from `first` on.
  std::vector<float> point(std::size_t first = 0) {
    std::normal_distribution<float> noise;
    std::mt19937_64 centre(1000 + first + random_() % shape_.clusters);
    std::vector<float> made(shape_.dimension);
    for (float& value : made) value = noise(centre);
    noise.reset();
    for (float& value : made) value += 0.6f * noise(random_);
    return made;
  }

  Record record(std::string id, std::size_t first = 0) {
    return {std::move(id), "word", point(first), static_cast<std::int64_t>(random_() % 100), ""};
  }

  ChangingRecords records() {
    ChangingRecords twin(shape_.dimension, text::Tokenizer::kBasic, vector::VectorType::kF32);
    Script script;
    for (std::size_t i = 0; i < shape_.records; ++i) script.add.push_back(record("id" + std::to_string(i)));
    twin.apply(script);
    return twin;
  }

 private:
  const Shape& shape_;
  std::mt19937_64& random_;
};

struct Found {
  double recall;       // share of the ten nearest records that searches at the default width find
  std::size_t others;  // searches whose path was another than the expected one
};

/// Filtered searches, and those of another path: where parts are small, a scan costs less.
struct Paths {
  std::size_t searches = 0;
  std::size_t others = 0;
};

std::size_t queries() {
  return test::repetitions(30, 100);
}

Found measure(const Storage& storage, const PreparedFilter* filter, vector::SearchPath path, Maker& maker,
              std::size_t first) {
  constexpr std::size_t kHits = 10;
  std::size_t found = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < queries(); ++i) {
    const std::vector<float> query = maker.point(first);
    SearchRequest request;
    request.query = query;
    request.top_k = kHits;
    request.filter = filter;
    const SearchResult near = storage.search(request);
    others += near.plan.dense_path == path && !near.plan.dense_exact ? 0 : 1;
    request.exact = true;
    const SearchResult truth = storage.search(request);
    CHECK(truth.plan.dense_exact);
    CHECK_EQ(truth.hits.size(), kHits);
    for (const Hit& wanted : truth.hits) {
      for (const Hit& hit : near.hits) found += hit.ordinal == wanted.ordinal ? 1 : 0;
    }
  }
  return {static_cast<double>(found) / static_cast<double>(queries() * kHits), others};
}

/// Checks searches for points near the centres from `first` on.
void check_recall(const LiveStorage& live, const Shape& shape, Maker& maker, const ChangingRecords& twin, Paths& paths,
                  std::size_t first = 0) {
  const auto storage = live.current();
  REQUIRE(storage->size() == shape.records);
  const Found all = measure(*storage, nullptr, vector::SearchPath::kGraph, maker, first);
  CHECK(all.recall >= 0.99);
  const auto below = [&](std::int64_t year) {
    const filter::Value json = filter::Object{{"<", filter::Array{filter::Object{{"knowledge", "year"}}, year}}};
    return PreparedFilter{filter::Predicate::compile(json, twin.schema())->bind()};
  };
  const PreparedFilter wide = below(shape.filter_below);
  const Found filtered = measure(*storage, &wide, shape.filtered_path, maker, first);
  CHECK(filtered.recall >= 0.99);
  // A graph search whose filter drops whole clusters, or of a part with few records, may end in a scan.
  paths.searches += 2 * queries();
  paths.others += all.others + filtered.others;
  const PreparedFilter narrow = below(5);
  CHECK(measure(*storage, &narrow, shape.filtered_path, maker, first).recall >= 0.99);
}

/// Replaces half of the records, in batches, with merges as they become due, or without.
void replace_half(LiveStorage& live, const Shape& shape, Maker& maker, const ChangingRecords& twin, bool merge,
                  const Work& work, std::mt19937_64& random) {
  constexpr std::size_t kBatch = 250;
  for (std::size_t begin = 0; begin < shape.records / 2; begin += kBatch) {
    Script script;
    for (std::size_t i = 0; i < kBatch; ++i) {
      script.replace.push_back(maker.record("id" + std::to_string((begin + i) * 2 + random() % 2)));
    }
    live.update(twin.changes(script), work);
    while (merge && live.merge(false, work)) {
    }
  }
}

void check_replaced(const Shape& shape, std::size_t rounds) {
  std::mt19937_64 random(test::seed());
  ThreadPool pool(1);
  const Work work{&pool, 2};
  Maker maker(shape, random);
  const ChangingRecords twin = maker.records();
  LiveStorage live(twin.build(true));
  Paths paths;
  check_recall(live, shape, maker, twin, paths);
  for (std::size_t round = 0; round < rounds; ++round) {
    replace_half(live, shape, maker, twin, true, work, random);
    if (round == 0 || round + 1 == rounds) check_recall(live, shape, maker, twin, paths);
  }
  replace_half(live, shape, maker, twin, false, work, random);
  check_recall(live, shape, maker, twin, paths);
  CHECK(2 * paths.others < paths.searches);
}

LONG_TEST("graph searches find the nearest records after half of them, and ten times that, were replaced") {
  check_replaced(kGraphs, test::repetitions(1, 10));
}

TEST("so do scans of cells") {
  check_replaced(kCells, test::repetitions(1, 10));
}

TEST("searches for records about something new find them, however few they are") {
  std::mt19937_64 random(test::seed());
  const Work work{};
  Maker maker(kGraphs, random);
  const ChangingRecords twin = maker.records();
  const auto built = twin.build(true);
  for (const std::size_t changed : {std::size_t{3100}, std::size_t{160}}) {
    LiveStorage live(built);
    Paths paths;
    Script script;
    for (std::size_t i = 0; i < changed; ++i) script.replace.push_back(maker.record("id" + std::to_string(i), 10'000));
    live.update(twin.changes(script), work);
    while (live.merge(false, work)) {
    }
    REQUIRE(live.current()->parts().size() == 2);
    check_recall(live, kGraphs, maker, twin, paths, 10'000);
    check_recall(live, kGraphs, maker, twin, paths);
    if (!test::is_long_form()) return;  // the first count makes a part with a graph of its own
  }
}

/// Records with sketches, many centres, and few records of a part around each.
Shape scattered() {
  return {test::repetitions(6'000, 16'000), 192, test::repetitions(190, 500), 80, vector::SearchPath::kCells};
}

TEST("searches find the records of a part with few near each of many centres") {
  std::mt19937_64 random(test::seed());
  ThreadPool pool(1);
  const Work work{&pool, 2};
  const Shape shape = scattered();
  Maker maker(shape, random);
  const ChangingRecords twin = maker.records();
  LiveStorage live(twin.build(true));
  const std::size_t changed = shape.records / 5 - 50;
  Script script;
  for (std::size_t i = 0; i < changed; ++i) script.replace.push_back(maker.record("id" + std::to_string(5 * i)));
  live.update(twin.changes(script), work);
  while (live.merge(false, work)) {
  }
  const auto storage = live.current();
  REQUIRE(storage->parts().size() == 2);
  std::size_t wanted = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < 4 * queries(); ++i) {
    const std::vector<float> query = maker.point();
    SearchRequest request;
    request.query = query;
    const SearchResult near = storage->search(request);
    request.exact = true;
    for (const Hit& hit : storage->search(request).hits) {
      if (hit.ordinal < shape.records - changed) continue;
      ++wanted;
      found +=
          std::any_of(near.hits.begin(), near.hits.end(), [&](const Hit& one) { return one.ordinal == hit.ordinal; });
    }
  }
  CHECK(wanted > queries());
  CHECK(static_cast<double>(found) >= 0.99 * static_cast<double>(wanted));
}

}  // namespace
