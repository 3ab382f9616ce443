#include "store/search.h"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "harness.h"
#include "naive_search.h"
#include "sample_storage.h"
#include "store/prepared_filter.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

const Sample& sample() {
  static const Sample made = [] {
    std::mt19937_64 random(test::seed());
    return make_sample(400, 8, false, random);
  }();
  return made;
}

SearchRequest request_of(Mode mode, std::span<const float> query, std::string_view text) {
  SearchRequest request;
  request.mode = mode;
  request.query = query;
  request.text = text;
  return request;
}

const std::vector<float>& some_query() {
  static const std::vector<float> query = {1, 0, -1, 2, 0, 1, -2, 1};
  return query;
}

std::vector<std::uint32_t> ordinals(const SearchResult& result) {
  std::vector<std::uint32_t> all;
  for (const Hit& hit : result.hits) all.push_back(hit.ordinal);
  return all;
}

bool near(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || std::abs(*a - *b) < 1e-6);
}

/// Equal but for rounding.
bool equal_by_scores(const Hit& a, const Hit& b) {
  return a.ordinal == b.ordinal && near(a.score, b.score) && a.dense_rank == b.dense_rank &&
         a.lexical_rank == b.lexical_rank && a.distance == b.distance && a.bm25_score == b.bm25_score &&
         near(a.dense_score, b.dense_score) && near(a.lexical_score, b.lexical_score);
}

bool equal(const Hit& a, const Hit& b) {
  return a.ordinal == b.ordinal && a.score == b.score && a.dense_rank == b.dense_rank &&
         a.lexical_rank == b.lexical_rank && a.distance == b.distance && a.bm25_score == b.bm25_score;
}

TEST("every mode agrees with the naive search, whatever the filter, threshold and fusion") {
  std::mt19937_64 random(test::seed());
  std::size_t hits = 0;
  std::size_t filled = 0;  // hits of one leg that were given the other's raw score
  for (int storage = 0; storage < 8; ++storage) {
    const Sample made = make_sample(1 + random() % 300, 1 + random() % 12, false, random);
    const NaiveSearch naive(made);
    for (int round = 0; round < 60; ++round) {
      const std::vector<float> query = random_vector(made.dimension, random);
      const std::string text = random_text(random() % 5, random);
      SearchRequest request = request_of(static_cast<Mode>(random() % 3), query, text);
      request.top_k = 1 + random() % 20;
      if (random() % 2 == 0) request.threshold = static_cast<float>(random() % 20) / 10;
      request.rrf.k = static_cast<double>(random() % 2) * 60;
      request.rrf.dense_weight = static_cast<double>(1 + random() % 2);
      request.rrf.candidates = random() % 30;
      const auto limit = static_cast<std::int64_t>(random() % 110);
      const PreparedFilter below{year_below(made, limit)};
      auto thirds = std::make_shared<MatchingRows>();
      thirds->rows = Bitmap(made.size(), true);
      for (std::size_t i = 0; i < made.size(); i += 3) thirds->rows.reset(i);
      const PreparedFilter some{{}, thirds};
      const PreparedFilter* const filters[] = {nullptr, &below, &some};
      request.filter = filters[random() % 3];
      const auto matches = [&](std::uint32_t ordinal) {
        return request.filter == nullptr ||
               (request.filter == &below ? made.years[ordinal] < limit : thirds->rows.test(ordinal));
      };

      const SearchResult found = made.storage->search(request);
      const std::vector<Hit> expected = naive.search(request, matches);
      REQUIRE(found.hits.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(equal(found.hits[i], expected[i]));
      std::size_t matched = 0;
      for (std::uint32_t i = 0; i < made.size(); ++i) matched += matches(i) ? 1 : 0;
      if (request.filter != nullptr) {
        CHECK_EQ(found.plan.matched.value_or(~std::size_t{0}), matched);
      } else {
        CHECK(!found.plan.matched);
      }
      hits += expected.size();
      for (const Hit& hit : expected) filled += request.mode == Mode::kHybrid && !(hit.dense_rank && hit.lexical_rank);
    }
  }
  CHECK(hits > 1000);
  CHECK(filled > 100);
}

TEST("fusion by scores agrees with the naive search, whatever the weight, filter and threshold") {
  std::mt19937_64 random(test::seed());
  std::size_t hits = 0;
  std::size_t of_one_leg = 0;
  for (int storage = 0; storage < 8; ++storage) {
    const Sample made = make_sample(1 + random() % 300, 1 + random() % 12, false, random);
    const NaiveSearch naive(made);
    for (int round = 0; round < 60; ++round) {
      const std::vector<float> query = random_vector(made.dimension, random);
      const std::string text = random_text(random() % 5, random);
      SearchRequest request = request_of(Mode::kHybrid, query, text);
      request.fusion = Fusion::kScores;
      request.dense_weight = static_cast<double>(random() % 5) / 4;
      request.top_k = 1 + random() % 20;
      request.rrf.candidates = random() % 30;
      if (random() % 3 == 0) request.threshold = static_cast<float>(random() % 20) / 10;
      const auto limit = static_cast<std::int64_t>(random() % 110);
      const PreparedFilter below{year_below(made, limit)};
      if (random() % 2 == 0) request.filter = &below;
      const auto matches = [&](std::uint32_t ordinal) {
        return request.filter == nullptr || made.years[ordinal] < limit;
      };
      const SearchResult found = made.storage->search(request);
      const std::vector<Hit> expected = naive.search(request, matches);
      REQUIRE(found.hits.size() == expected.size());
      // Rounding may swap hits whose scores are equal, also over the end of the list.
      SearchRequest whole = request;
      whole.top_k = 2 * leg_depth(request);
      std::map<std::uint32_t, Hit> by_ordinal;
      for (const Hit& hit : naive.search_to_depth(whole, leg_depth(request), matches)) by_ordinal[hit.ordinal] = hit;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const Hit& hit = found.hits[i];
        CHECK(near(hit.score, expected[i].score));
        CHECK(equal_by_scores(hit, by_ordinal.at(hit.ordinal)));
        CHECK(hit.score >= 0 && hit.score <= 1 && hit.relevance >= 0 && hit.relevance <= 1);
        of_one_leg += hit.dense_rank && hit.lexical_rank ? 0 : 1;
      }
      CHECK(found.plan.dense_weight == std::optional(request.dense_weight));
      hits += expected.size();
    }
  }
  CHECK(hits > 1000);
  CHECK(of_one_leg > 100);
}

TEST("an adapted weight follows the cosines of the dense leg, and a weight of 0 or 1 stays") {
  const Sample& made = sample();
  SearchRequest request = request_of(Mode::kHybrid, some_query(), "w0 w1");
  request.fusion = Fusion::kScores;
  request.adapt_weight = true;
  for (const double weight : {0.0, 0.6, 1.0}) {
    request.dense_weight = weight;
    const double used = *made.storage->search(request).plan.dense_weight;
    if (weight == 0.6) {
      CHECK(used > 0.3 && used < 0.85 && used != 0.6);
    } else {
      CHECK_EQ(used, weight);
    }
  }
  request.dense_weight = 0.6;
  request.rrf.candidates = 49;  // too few for the measure of the fall
  CHECK_EQ(*made.storage->search(request).plan.dense_weight, 0.6);
}

TEST("min_score drops the hits of less relevance, in every mode and fusion") {
  for (const Mode mode : {Mode::kDense, Mode::kLexical, Mode::kHybrid}) {
    for (const Fusion fusion : {Fusion::kRrf, Fusion::kScores}) {
      SearchRequest request = request_of(mode, some_query(), "w0 w1");
      request.fusion = fusion;
      request.top_k = 20;
      const std::vector<Hit> all = sample().storage->search(request).hits;
      REQUIRE(all.size() == 20);
      std::vector<double> relevance;
      for (const Hit& hit : all) relevance.push_back(hit.relevance);
      std::sort(relevance.begin(), relevance.end());
      request.min_score = relevance[10];
      const std::vector<Hit> kept = sample().storage->search(request).hits;
      const auto expected =
          std::count_if(all.begin(), all.end(), [&](const Hit& hit) { return hit.relevance >= relevance[10]; });
      CHECK_EQ(kept.size(), static_cast<std::size_t>(expected));
      for (const Hit& hit : kept) CHECK(hit.relevance >= relevance[10]);
    }
  }
}

TEST("a dense search with a text finds the same records, and those with words of the text are more relevant") {
  const Sample& made = sample();
  SearchRequest request = request_of(Mode::kDense, some_query(), {});
  request.top_k = 50;
  const SearchResult without = made.storage->search(request);
  request.text = "w0 w1";
  const SearchResult with = made.storage->search(request);
  REQUIRE(ordinals(with) == ordinals(without));
  CHECK(!with.plan.lexical);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < with.hits.size(); ++i) {
    CHECK_EQ(with.hits[i].score, without.hits[i].score);
    CHECK(!with.hits[i].bm25_score);
    changed += with.hits[i].relevance != without.hits[i].relevance ? 1 : 0;
  }
  CHECK(changed == with.hits.size());
  for (const std::string_view blank : {"", " ", "?!"}) {
    request.text = blank;
    const SearchResult same = made.storage->search(request);
    for (std::size_t i = 0; i < same.hits.size(); ++i) CHECK_EQ(same.hits[i].relevance, without.hits[i].relevance);
  }
}

TEST("a graph index gives the same hits, ranks and plan in every mode") {
  std::mt19937_64 random(test::seed());
  const Sample made = make_sample(2000, 8, true, random);
  const NaiveSearch naive(made);
  std::size_t same = 0;
  std::size_t all = 0;
  for (int round = 0; round < 40; ++round) {
    const std::vector<float> query = random_vector(made.dimension, random);
    const std::string text = random_text(3, random);
    SearchRequest request = request_of(round % 2 == 0 ? Mode::kDense : Mode::kHybrid, query, text);
    request.ef = 400;
    const auto everything = [](std::uint32_t) { return true; };
    const SearchResult found = made.storage->search(request);
    const std::vector<Hit> expected = naive.search(request, everything);
    REQUIRE(found.hits.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      same += equal(found.hits[i], expected[i]) ? 1 : 0;
      ++all;
    }
    request.exact = true;
    const SearchResult exact = made.storage->search(request);
    CHECK(exact.plan.dense_path == vector::SearchPath::kExact && exact.plan.dense_exact);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(equal(exact.hits[i], expected[i]));
  }
  CHECK(same * 100 >= all * 95);
}

TEST("each mode fills in what it knows of a hit") {
  const SearchResult dense = sample().storage->search(request_of(Mode::kDense, some_query(), "w0 w1"));
  REQUIRE(dense.hits.size() == 5);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const Hit& hit = dense.hits[i];
    CHECK_NEAR(hit.score, 1.0 - *hit.distance, 1e-12);
    CHECK(hit.dense_rank == std::optional(i + 1) && !hit.lexical_rank && !hit.bm25_score);
  }
  CHECK(dense.plan.dense && !dense.plan.lexical && dense.plan.dense_exact && dense.plan.dense_visited > 0);

  const SearchResult lexical = sample().storage->search(request_of(Mode::kLexical, {}, "w0 w1"));
  REQUIRE(lexical.hits.size() == 5);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const Hit& hit = lexical.hits[i];
    CHECK_EQ(hit.score, double{*hit.bm25_score});
    CHECK(hit.lexical_rank == std::optional(i + 1) && !hit.dense_rank && !hit.distance);
  }
  CHECK(!lexical.plan.dense && lexical.plan.lexical && lexical.plan.lexical_scored > 0);

  for (const Hit& hit : sample().storage->search(request_of(Mode::kHybrid, some_query(), "w0 w1")).hits) {
    CHECK(hit.distance && hit.bm25_score);
    CHECK(hit.dense_rank || hit.lexical_rank);
  }
}

TEST("a record that only the words found is kept beyond the threshold, with its distance") {
  SearchRequest request = request_of(Mode::kHybrid, some_query(), "w30");
  request.threshold = 0.0f;  // nothing is that near
  const SearchResult found = sample().storage->search(request);
  REQUIRE(!found.hits.empty());
  for (const Hit& hit : found.hits) {
    CHECK(!hit.dense_rank && hit.lexical_rank);
    CHECK(*hit.distance > 0.0f);
  }
  request.mode = Mode::kDense;
  CHECK(sample().storage->search(request).hits.empty());
}

TEST("a hit at exactly the threshold stays") {
  SearchRequest request = request_of(Mode::kDense, some_query(), "");
  request.top_k = 10;
  const SearchResult all = sample().storage->search(request);
  request.threshold = all.hits[3].distance;
  const std::size_t kept = sample().storage->search(request).hits.size();
  CHECK(kept >= 4);
  CHECK(kept < 10 || *all.hits[9].distance == *request.threshold);
}

TEST("a query without words or without known words says so") {
  for (const Mode mode : {Mode::kLexical, Mode::kHybrid}) {
    const SearchResult empty = sample().storage->search(request_of(mode, some_query(), " ?! "));
    CHECK(empty.plan.lexical);
    CHECK_EQ(empty.plan.lexical_tokens, 0u);
    CHECK_EQ(empty.plan.lexical_terms, 0u);
    CHECK_EQ(empty.hits.size(), mode == Mode::kLexical ? 0u : 5u);
    const SearchResult unknown = sample().storage->search(request_of(mode, some_query(), "nowhere w0 Nowhere"));
    CHECK_EQ(unknown.plan.lexical_tokens, 3u);
    CHECK_EQ(unknown.plan.lexical_terms, 1u);
  }
}

TEST("a leg of weight 0 is not run, but its raw scores are there") {
  SearchRequest request = request_of(Mode::kHybrid, some_query(), "w0 w1 w2");
  request.rrf.lexical_weight = 0;
  const SearchResult dense = sample().storage->search(request);
  CHECK(dense.plan.dense && !dense.plan.lexical);
  bool some_score = false;
  for (const Hit& hit : dense.hits) {
    CHECK(hit.dense_rank && !hit.lexical_rank && hit.bm25_score);
    some_score = some_score || *hit.bm25_score > 0;
  }
  CHECK(some_score);
  SearchRequest plain = request_of(Mode::kDense, some_query(), "");
  CHECK(ordinals(dense) == ordinals(sample().storage->search(plain)));

  request.rrf.lexical_weight = 1;
  request.rrf.dense_weight = 0;
  const SearchResult lexical = sample().storage->search(request);
  CHECK(!lexical.plan.dense && lexical.plan.lexical);
  for (const Hit& hit : lexical.hits) CHECK(!hit.dense_rank && hit.distance);
}

TEST("a filter that lets k records through gives k hits, and none gives none") {
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{3}, std::int64_t{100}}) {
    const PreparedFilter prepared{year_below(sample(), limit)};
    std::size_t matching = 0;
    for (const std::int64_t year : sample().years) matching += year < limit ? 1 : 0;
    for (const Mode mode : {Mode::kDense, Mode::kHybrid}) {
      SearchRequest request = request_of(mode, some_query(), "w1");
      request.filter = &prepared;
      request.top_k = 1000;
      const SearchResult found = sample().storage->search(request);
      CHECK_EQ(found.hits.size(), matching);
      CHECK(found.plan.matched == std::optional(matching));
      for (const Hit& hit : found.hits) CHECK(sample().years[hit.ordinal] < limit);
    }
  }
}

TEST("a request that cannot work names what is wrong") {
  const Storage bare(bare_parts({"a"}));
  const PreparedFilter prepared{year_below(sample(), 1)};
  auto three = std::make_shared<MatchingRows>();
  three->rows = Bitmap(3);
  const PreparedFilter small{{}, three};
  const float nan = std::nanf("");
  const auto fails = [](const Storage& storage, SearchRequest request, const char* field) {
    try {
      storage.search(request);
      test::report_failure(__FILE__, __LINE__, std::string("accepted: ") + field);
    } catch (const Error& error) {
      CHECK(error.code() == Code::kInvalidArgument);
      if (!std::string(error.what()).starts_with(std::string(field) + ": ")) {
        test::report_failure(__FILE__, __LINE__, std::string(field) + " expected, got " + error.what());
      }
    }
  };
  const Storage& storage = *sample().storage;
  const auto with = [](auto change) {
    SearchRequest request = request_of(Mode::kHybrid, some_query(), "w1");
    change(request);
    return request;
  };
  fails(bare, request_of(Mode::kDense, some_query(), ""), "mode");
  fails(bare, request_of(Mode::kLexical, {}, "a"), "mode");
  fails(storage, request_of(Mode::kDense, {}, ""), "query");
  fails(storage, with([](SearchRequest& r) { r.top_k = 0; }), "top_k");
  for (const float threshold : {-0.1f, 2.1f, nan}) {
    fails(storage, with([&](SearchRequest& r) { r.threshold = threshold; }), "threshold");
  }
  for (const double weight : {-0.1, 2.1, static_cast<double>(nan)}) {
    fails(storage, with([&](SearchRequest& r) { r.feedback = weight; }), "feedback");
  }
  fails(storage, with([](SearchRequest& r) { r.min_score = 1.5; }), "min_score");
  fails(storage, with([&](SearchRequest& r) { r.min_score = nan; }), "min_score");
  for (const double weight : {-0.1, 1.1, static_cast<double>(nan)}) {
    fails(storage, with([&](SearchRequest& r) { r.fusion = Fusion::kScores, r.dense_weight = weight; }),
          "dense_weight");
  }
  fails(storage, with([](SearchRequest& r) { r.rrf.k = -1; }), "rrf.k");
  fails(storage, with([&](SearchRequest& r) { r.rrf.k = nan; }), "rrf.k");
  fails(storage, with([](SearchRequest& r) { r.rrf.dense_weight = -1; }), "rrf.dense_weight");
  fails(storage, with([](SearchRequest& r) { r.rrf.lexical_weight = HUGE_VAL; }), "rrf.lexical_weight");
  fails(storage, with([](SearchRequest& r) { r.rrf.dense_weight = r.rrf.lexical_weight = 0; }), "rrf");
  fails(storage, with([&](SearchRequest& r) { r.filter = &small; }), "filter");

  SearchRequest filtered = with([&](SearchRequest& r) { r.filter = &prepared; });
  StorageParts parts = bare_parts({"a"});
  parts.text_index = text::TextIndex::build(std::vector<std::string_view>{"a"}, {});
  filtered.mode = Mode::kLexical;
  fails(Storage(std::move(parts)), filtered, "filter");
}

TEST("a query of another dimension is a dimension mismatch") {
  const std::vector<float> query(7, 1.0f);
  CHECK_FAILS(Code::kDimensionMismatch, sample().storage->search(request_of(Mode::kDense, query, "")));
  SearchRequest request = request_of(Mode::kHybrid, query, "w1");
  request.rrf.dense_weight = 0;
  CHECK_FAILS(Code::kDimensionMismatch, sample().storage->search(request));
}

TEST("a raised token ends every kind of search") {
  CancelToken cancel;
  cancel.cancel();
  const PreparedFilter prepared{year_below(sample(), 50)};
  for (const Mode mode : {Mode::kDense, Mode::kLexical, Mode::kHybrid}) {
    SearchRequest request = request_of(mode, some_query(), "w0 w1");
    request.work.cancel = &cancel;
    CHECK_FAILS(Code::kCancelled, sample().storage->search(request));
    request.filter = &prepared;
    CHECK_FAILS(Code::kCancelled, sample().storage->search(request));
  }
}

TEST("a deadline that has passed ends every kind of search, and one to come changes nothing") {
  const CancelToken past(CancelToken::Clock::now() - std::chrono::seconds(1));
  const CancelToken future(CancelToken::Clock::now() + std::chrono::hours(24));
  const PreparedFilter prepared{year_below(sample(), 50)};
  for (const Mode mode : {Mode::kDense, Mode::kLexical, Mode::kHybrid}) {
    for (const PreparedFilter* filter : {static_cast<const PreparedFilter*>(nullptr), &prepared}) {
      SearchRequest request = request_of(mode, some_query(), "w0 w1");
      request.filter = filter;
      const SearchResult expected = sample().storage->search(request);
      request.work.cancel = &future;
      CHECK_EQ(sample().storage->search(request).hits.size(), expected.hits.size());
      request.work.cancel = &past;
      bool out_of_time = false;
      try {
        sample().storage->search(request);
      } catch (const OutOfTime&) {
        out_of_time = true;
      }
      CHECK(out_of_time);
    }
  }
}

TEST("many threads search one storage at once and find the same") {
  const SearchResult expected = sample().storage->search(request_of(Mode::kHybrid, some_query(), "w0 w3"));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const PreparedFilter prepared{year_below(sample(), 100)};
      for (int round = 0; round < 25; ++round) {
        SearchRequest request = request_of(Mode::kHybrid, some_query(), "w0 w3");
        request.filter = &prepared;
        if (ordinals(sample().storage->search(request)) != ordinals(expected)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(wrong.load(), 0);
}

TEST("legs that run side by side find what they find one after the other, and fail as they do") {
  ThreadPool pool(3);
  const PreparedFilter prepared{year_below(sample(), 100)};
  for (const PreparedFilter* filter : {static_cast<const PreparedFilter*>(nullptr), &prepared}) {
    for (int round = 0; round < 50; ++round) {
      SearchRequest request = request_of(Mode::kHybrid, some_query(), "w0 w3");
      request.filter = filter;
      const SearchResult alone = sample().storage->search(request);
      request.work.pool = &pool;
      request.work.workers = 4;
      const SearchResult together = sample().storage->search(request);
      CHECK(ordinals(together) == ordinals(alone));
      CHECK_EQ(together.plan.dense_visited, alone.plan.dense_visited);
      CHECK_EQ(together.plan.lexical_scored, alone.plan.lexical_scored);
      const std::vector<float> short_query(1, 1.0f);
      request.query = short_query;
      CHECK_FAILS(Code::kDimensionMismatch, sample().storage->search(request));
    }
  }
}

}  // namespace
