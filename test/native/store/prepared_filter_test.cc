// Filters learn from their searches what they match, and searches with them find the same whatever is known.
#include "store/prepared_filter.h"

#include <atomic>
#include <thread>

#include "harness.h"
#include "sample_storage.h"
#include "store/storage.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;
using filter::Array;
using filter::Object;

// Enough rows for an order of cells.
const Sample& sample() {
  static const Sample made = [] {
    std::mt19937_64 random(test::seed());
    return make_sample(3000, 64, true, random);
  }();
  return made;
}

CompiledFilter compile(filter::Value operand) {
  const filter::Value json = Object{{"<", Array{Object{{"knowledge", "year"}}, std::move(operand)}}};
  return CompiledFilter(filter::Predicate::compile(json, sample().schema));
}

const std::vector<float>& query() {
  static const std::vector<float> made(64, 1.0f);
  return made;
}

SearchResult search(const PreparedFilter& filter, const Work& work = {}) {
  SearchRequest request;
  request.query = query();
  request.filter = &filter;
  request.work = work;
  return sample().storage->search(request);
}

std::vector<std::uint32_t> ordinals(const SearchResult& result) {
  std::vector<std::uint32_t> all;
  for (const Hit& hit : result.hits) all.push_back(hit.ordinal);
  return all;
}

TEST("filters: the second search keeps the matching rows, and the third evaluates nothing") {
  CompiledFilter compiled = compile(std::int64_t{90});
  const auto& storage = sample().storage;
  std::vector<std::uint32_t> expected;
  for (int use = 0; use < 3; ++use) {
    const PreparedFilter prepared = compiled.prepare(storage, {});
    CHECK_EQ(prepared.known != nullptr, use == 2);
    CHECK_EQ(prepared.to_cell_order, use == 1);
    CHECK_EQ(compiled.first_use(prepared), use < 2);
    const SearchResult result = search(prepared);
    REQUIRE(result.matching != nullptr);
    CHECK_EQ(result.matching->rows_in_cell_order.size(), use == 0 ? 0u : storage->size());
    for (std::size_t i = 0; i < storage->size(); ++i) CHECK_EQ(result.matching->rows.test(i), sample().years[i] < 90);
    if (use == 0) expected = ordinals(result);
    CHECK(ordinals(result) == expected);
    compiled.learn(storage, prepared, result);
  }
}

TEST("filters: rows are known for one storage alone, and do not keep it alive") {
  CompiledFilter compiled = compile(std::int64_t{50});
  std::mt19937_64 random(test::seed());
  const Sample other = make_sample(40, 4, false, random);
  auto mine = std::make_shared<const Storage>(bare_parts({"a"}));
  CHECK(compiled.prepare(other.storage, {}).known == nullptr);
  for (int use = 0; use < 2; ++use) {
    const PreparedFilter prepared = compiled.prepare(sample().storage, {});
    compiled.learn(sample().storage, prepared, search(prepared));
  }
  CHECK(compiled.prepare(sample().storage, {}).known != nullptr);
  CHECK(compiled.prepare(other.storage, {}).known == nullptr);
  CHECK_FAILS(Code::kInvalidArgument, matching_rows(compiled.prepare(sample().storage, {}), *mine, nullptr));
  const std::weak_ptr<const Storage> watched = mine;
  for (int use = 0; use < 2; ++use) {
    PreparedFilter prepared = compiled.prepare(mine, {});
    SearchResult result;
    result.matching = std::make_shared<const MatchingRows>(MatchingRows{Bitmap(1), {}});
    compiled.learn(mine, prepared, result);
  }
  mine.reset();
  CHECK(watched.expired());
}

TEST("filters: one with variables is evaluated each time") {
  CompiledFilter compiled = compile(Object{{"variable", "limit"}});
  for (const std::int64_t limit : {20, 80, 20, 80}) {
    const PreparedFilter prepared = compiled.prepare(sample().storage, {{"limit", limit}});
    CHECK(prepared.known == nullptr);
    CHECK(!prepared.to_cell_order);
    CHECK(!compiled.first_use(prepared));
    const SearchResult result = search(prepared);
    for (const Hit& hit : result.hits) CHECK(sample().years[hit.ordinal] < limit);
    compiled.learn(sample().storage, prepared, result);
  }
  CHECK_FAILS(Code::kInvalidArgument, compiled.prepare(sample().storage, {}));
}

TEST("filters: many threads search with one prepared filter while another prepares and learns") {
  CompiledFilter compiled = compile(std::int64_t{70});
  const auto& storage = sample().storage;
  const std::vector<std::uint32_t> expected = ordinals(search(compiled.prepare(storage, {})));
  std::atomic<int> wrong{0};
  for (int round = 0; round < 4; ++round) {
    const PreparedFilter prepared = compiled.prepare(storage, {});
    std::vector<std::thread> searchers;
    for (int i = 0; i < 3; ++i) {
      searchers.emplace_back([&] { wrong += ordinals(search(prepared)) == expected ? 0 : 1; });
    }
    const PreparedFilter own = compiled.prepare(storage, {});
    compiled.learn(storage, own, search(own));
    for (std::thread& searcher : searchers) searcher.join();
  }
  CHECK_EQ(wrong.load(), 0);
}

}  // namespace
