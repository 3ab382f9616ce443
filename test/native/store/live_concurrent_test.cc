#include <atomic>
#include <random>
#include <thread>

#include "changing_records.h"
#include "harness.h"
#include "store/lexical_options.h"
#include "store/live_storage.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

/// Searches until `stop`; every version has one record with the word "base", and two with "pair" for each batch.
void read(const LiveStorage& live, const std::atomic<bool>& stop, std::atomic<std::size_t>& wrong) {
  const std::vector<float> query = {1, 0, -1, 2};
  std::uint64_t latest = 0;
  while (!stop.load()) {
    const auto storage = live.current();
    if (storage->version() < latest) ++wrong;
    latest = storage->version();
    SearchRequest request;
    request.mode = Mode::kLexical;
    request.text = "pair";
    request.top_k = 10'000;
    if (storage->search(request).hits.size() != 2 * storage->version()) ++wrong;
    request.mode = Mode::kHybrid;
    request.query = query;
    request.top_k = 5;
    const SearchResult found = storage->search(request);
    if (found.hits.size() != std::min<std::size_t>(5, storage->size())) ++wrong;
    for (const Hit& hit : found.hits) {
      if (storage->find(storage->id(hit.ordinal)) != hit.ordinal) ++wrong;
    }
    LexicalOptions lexical;
    lexical.boosts.emplace_back("title", 2.0f);
    lexical.query.fuzziness = true;
    request.lexical = &lexical;
    if (storage->search(request).hits.empty()) ++wrong;
    for (const VersionFacts& facts : live.versions()) {
      if (facts.size != 1 + 2 * facts.version) ++wrong;
    }
  }
}

TEST("searches see whole versions while batches and merges run") {
  std::mt19937_64 random(test::seed());
  ChangingRecords twin(4, text::Tokenizer::kBasic, vector::VectorType::kF32);
  Record base = twin.random_record("base", random);
  base.text = "base";
  twin.apply({.add = {base}});
  LiveStorage live(twin.build());
  live.keep({.count = 3});
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { read(live, stop, wrong); });
  threads.emplace_back([&] {
    for (int round = 0; !stop.load(); ++round) live.merge(round % 2 == 0, {});
  });
  for (int batch = 0; batch < 150; ++batch) {
    Script script;
    for (const char* const side : {"l", "r"}) {
      script.add.push_back(twin.random_record(side + std::to_string(batch), random));
      script.add.back().text = "pair w" + std::to_string(batch % 9);
    }
    // A replaced record keeps its words.
    if (batch > 0) {
      script.replace.push_back(twin.random_record("l" + std::to_string(batch - 1), random));
      script.replace.back().text = "pair again";
    }
    live.update(twin.changes(script), {});
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(wrong.load(), 0u);
  CHECK_EQ(live.current()->size(), 301u);
}

}  // namespace
