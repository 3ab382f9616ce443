#include <random>

#include "changing_records.h"
#include "core/threads/thread_pool.h"
#include "harness.h"
#include "store/live_storage.h"
#include "store/prepared_filter.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

constexpr std::size_t kRecords = 6000;
constexpr std::size_t kDimension = 32;
constexpr std::size_t kClusters = 60;

std::vector<float> clustered(std::mt19937_64& random) {
  std::normal_distribution<float> noise;
  std::mt19937_64 centre(1000 + random() % kClusters);
  std::vector<float> vector(kDimension);
  for (float& value : vector) value = noise(centre);
  noise.reset();
  for (float& value : vector) value += 0.6f * noise(random);
  return vector;
}

Record clustered_record(std::string id, std::mt19937_64& random) {
  return {std::move(id), "word", clustered(random), static_cast<std::int64_t>(random() % 100), ""};
}

/// Returns the share of the ten nearest records that searches at the default width find.
double recall(const Storage& storage, const PreparedFilter* filter, std::mt19937_64& random) {
  constexpr int kQueries = 100;
  constexpr std::size_t kHits = 10;
  std::size_t found = 0;
  for (int i = 0; i < kQueries; ++i) {
    const std::vector<float> query = clustered(random);
    SearchRequest request;
    request.query = query;
    request.top_k = kHits;
    request.filter = filter;
    const SearchResult near = storage.search(request);
    request.exact = true;
    for (const Hit& truth : storage.search(request).hits) {
      for (const Hit& hit : near.hits) found += hit.ordinal == truth.ordinal ? 1 : 0;
    }
  }
  return static_cast<double>(found) / (kQueries * kHits);
}

void check_recall(const LiveStorage& live, const ChangingRecords& twin, std::mt19937_64& random) {
  const auto storage = live.current();
  REQUIRE(storage->size() == kRecords);
  CHECK(recall(*storage, nullptr, random) >= 0.99);
  for (const std::int64_t below : {50, 5}) {
    const filter::Value json = filter::Object{{"<", filter::Array{filter::Object{{"knowledge", "year"}}, below}}};
    const PreparedFilter filter{filter::Predicate::compile(json, twin.schema())->bind()};
    CHECK(recall(*storage, &filter, random) >= 0.99);
  }
}

/// Replaces half of the records, in batches, with merges as they become due, or without.
void replace_half(LiveStorage& live, const ChangingRecords& twin, bool merge, const Work& work,
                  std::mt19937_64& random) {
  constexpr std::size_t kBatch = 250;
  for (std::size_t begin = 0; begin < kRecords / 2; begin += kBatch) {
    Script script;
    for (std::size_t i = 0; i < kBatch; ++i) {
      script.replace.push_back(clustered_record("id" + std::to_string((begin + i) * 2 + random() % 2), random));
    }
    live.update(twin.changes(script), work);
    while (merge && live.merge(false, work)) {
    }
  }
}

TEST("graph searches find the nearest records after half of them, and ten times that, were replaced") {
  std::mt19937_64 random(test::seed());
  ThreadPool pool(1);
  const Work work{&pool, 2};
  for (const std::size_t rounds : {1u, 10u}) {
    ChangingRecords twin(kDimension, text::Tokenizer::kBasic, vector::VectorType::kF32);
    Script first;
    for (std::size_t i = 0; i < kRecords; ++i) first.add.push_back(clustered_record("id" + std::to_string(i), random));
    twin.apply(first);
    LiveStorage live(twin.build(true));
    check_recall(live, twin, random);
    for (std::size_t round = 0; round < rounds; ++round) replace_half(live, twin, true, work, random);
    check_recall(live, twin, random);
    if (rounds > 1) continue;
    replace_half(live, twin, false, work, random);
    check_recall(live, twin, random);
  }
}

TEST("a search among removed records finds the nearest others") {
  std::mt19937_64 random(test::seed());
  ChangingRecords twin(kDimension, text::Tokenizer::kBasic, vector::VectorType::kF32);
  Script first;
  for (std::size_t i = 0; i < kRecords; ++i) first.add.push_back(clustered_record("id" + std::to_string(i), random));
  twin.apply(first);
  LiveStorage live(twin.build(true));
  // All records near one point.
  const std::vector<float> query = clustered(random);
  SearchRequest request;
  request.query = query;
  request.top_k = 300;
  request.exact = true;
  Script gone;
  for (const Hit& hit : live.current()->search(request).hits) gone.remove.emplace_back(live.current()->id(hit.ordinal));
  live.update(twin.changes(gone), {});
  request.top_k = 10;
  const SearchResult truth = live.current()->search(request);
  request.exact = false;
  const SearchResult found = live.current()->search(request);
  REQUIRE(found.hits.size() == truth.hits.size());
  for (std::size_t i = 0; i < truth.hits.size(); ++i) CHECK_EQ(found.hits[i].ordinal, truth.hits[i].ordinal);
}

}  // namespace
