#include "store/search_cost.h"

#include "harness.h"
#include "sample_storage.h"
#include "store/lexical_options.h"
#include "store/prepared_filter.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;
using std::chrono::microseconds;

constexpr ShortSearch kBound{microseconds(100), microseconds(200)};

TEST("cost: nothing is expected before a search was seen") {
  SearchTimes times;
  CHECK(!times.seen());
  CHECK(!times.expect(kBound, 0));
  times.learn(microseconds(10), 10);
  CHECK(times.seen());
  CHECK(times.expect(kBound, 100));
  CHECK(!times.expect(kBound, 101));
}

TEST("cost: one slow search changes the expectation by an eighth") {
  SearchTimes times;
  times.learn(microseconds(80), 1);
  times.learn(microseconds(160), 1);
  CHECK(times.expect(kBound, 1.1));  // 90 µs
  CHECK(!times.expect(kBound, 1.2));
  for (int i = 0; i < 50; ++i) times.learn(microseconds(160), 1);
  CHECK(!times.expect(kBound, 1));
}

TEST("cost: a search runs here only if it is expected to be short, and gives up when it is not") {
  SearchTimes times;
  int runs = 0;
  const auto run = [&](const CancelToken& cancel) {
    ++runs;
    cancel.check();
    return 7;
  };
  const SearchCost cost{&times, &times, 1};
  CHECK(!search_if_short(kBound, cost, run));
  CHECK_EQ(runs, 0);
  times.learn(microseconds(1), 1);
  CHECK(search_if_short({microseconds(100), std::chrono::hours(1)}, cost, run) == std::optional(7));
  CHECK_EQ(runs, 1);
  CHECK(!search_if_short({microseconds(100), microseconds(0)}, cost, run));  // its time has passed at once
  CHECK_EQ(runs, 2);
}

SearchRequest request_of(Mode mode) {
  SearchRequest request;
  request.mode = mode;
  request.text = "four words of text";
  return request;
}

TEST("cost: searches without a filter grow with width, hits and text") {
  StorageTimes times;
  for (const Mode mode : {Mode::kDense, Mode::kLexical, Mode::kHybrid}) {
    const SearchCost cost = cost_of(request_of(mode), times, nullptr);
    CHECK(cost.expected == &times.unfiltered.of(mode));
    CHECK(cost.learnt == cost.expected);
    SearchRequest more = request_of(mode);
    more.top_k = 100;
    CHECK(cost_of(more, times, nullptr).size > cost.size);
    SearchRequest longer = request_of(mode);
    longer.text = "four words of text and five more words behind them";
    CHECK(cost_of(longer, times, nullptr).size > cost.size);
    SearchRequest wider = request_of(mode);
    wider.ef = 500;
    CHECK_EQ(cost_of(wider, times, nullptr).size > cost.size, mode != Mode::kLexical);
    // Fuzzy words, phrases and boosts take longer than the words of other searches.
    const LexicalOptions options;
    SearchRequest extended = request_of(mode);
    extended.lexical = &options;
    CHECK(cost_of(extended, times, nullptr).learnt == nullptr);
  }
  CHECK_EQ(walk_size(0, 5), walk_size(vector::kDefaultEf, 5));
  CHECK_EQ(walk_size(0, 1000), walk_size(2000, 5));
}

TEST("cost: a filter's first uses are estimated from other filters, later ones from its own") {
  std::mt19937_64 random(test::seed());
  const Sample sample = make_sample(50, 4, false, random);
  const filter::Value json =
      filter::Object{{"<", filter::Array{filter::Object{{"knowledge", "year"}}, std::int64_t{50}}}};
  CompiledFilter compiled(filter::Predicate::compile(json, sample.schema));
  StorageTimes times;
  const std::vector<float> query(4, 1.0f);
  for (int use = 0; use < 4; ++use) {
    const PreparedFilter prepared = compiled.prepare(sample.storage, {});
    SearchRequest request = request_of(Mode::kDense);
    request.query = query;
    request.filter = &prepared;
    const SearchCost cost = cost_of(request, times, &compiled);
    CHECK(cost.learnt == (use < 2 ? &times.first_uses.of(Mode::kDense) : &compiled.times(Mode::kDense)));
    CHECK(cost.expected == (use < 3 ? &times.first_uses.of(Mode::kDense) : &compiled.times(Mode::kDense)));
    CHECK_EQ(cost.size, 1.0);
    cost.learnt->learn(microseconds(5), cost.size);
    compiled.learn(sample.storage, prepared, sample.storage->search(request));
  }
  CHECK(!times.unfiltered.of(Mode::kDense).seen());
}

TEST("cost: a text search runs here once its like was seen, with the same hits") {
  const std::vector<std::string_view> texts{"one two", "two three", "three four five"};
  const auto index = text::TextIndex::build(texts, {});
  SearchTimes times;
  CHECK(!search_text_if_short(*index, "two", 3, times));
  const TextSearch elsewhere = search_text(*index, "two", {.k = 3});
  CHECK(elsewhere.size > 0);
  times.learn(std::chrono::nanoseconds(1), elsewhere.size);
  const auto here = search_text_if_short(*index, "two", 3, times);
  if (here) CHECK(here->hits == elsewhere.result.hits);  // absent only where this thread lost its processor
  CHECK(!search_text_if_short(*index, std::string(5000, 'a'), 3, times));
  times.learn(std::chrono::hours(1), 1);
  CHECK(!search_text_if_short(*index, "two", 3, times));
}

}  // namespace
