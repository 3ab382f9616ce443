// Feedback of hybrid searches beside its slow twin.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

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

const std::vector<float>& some_query() {
  static const std::vector<float> query = {1, 0, -1, 2, 0, 1, -2, 1};
  return query;
}

SearchRequest request_of(std::span<const float> query, std::string_view text) {
  SearchRequest request;
  request.mode = Mode::kHybrid;
  request.query = query;
  request.text = text;
  return request;
}

std::vector<std::uint32_t> ordinals(const SearchResult& result) {
  std::vector<std::uint32_t> all;
  for (const Hit& hit : result.hits) all.push_back(hit.ordinal);
  return all;
}

TEST("feedback agrees with the naive search, whatever the fusion, weight, filter and threshold") {
  std::mt19937_64 random(test::seed());
  std::size_t compared = 0;
  std::size_t changed = 0;
  std::size_t added = 0;
  for (int storage = 0; storage < 8; ++storage) {
    const Sample made = make_sample(1 + random() % 400, 8, false, random);
    const NaiveSearch naive(made);
    for (int round = 0; round < 60; ++round) {
      const std::vector<float> query = random_vector(made.dimension, random);
      const std::string text = random_text(random() % 5, random);
      SearchRequest request = request_of(query, text);
      request.fusion = random() % 2 == 0 ? Fusion::kScores : Fusion::kRrf;
      request.dense_weight = static_cast<double>(random() % 5) / 4;
      request.top_k = 1 + random() % 20;
      request.rrf.candidates = random() % 60;
      if (random() % 3 == 0) request.threshold = static_cast<float>(random() % 20) / 10;
      const auto limit = static_cast<std::int64_t>(random() % 110);
      const PreparedFilter below{year_below(made, limit)};
      if (random() % 2 == 0) request.filter = &below;
      const auto matches = [&](std::uint32_t ordinal) {
        return request.filter == nullptr || made.years[ordinal] < limit;
      };
      const std::vector<std::uint32_t> before = ordinals(made.storage->search(request));
      SearchRequest three = request;
      three.top_k = 3;
      const std::vector<Hit> best = naive.search_to_depth(three, leg_depth(request), matches);
      // Rounding may swap hits of equal scores, and so move the query elsewhere.
      const auto equal_scores = [&](std::size_t i) {
        return best.size() > i && best[i - 1].score - best[i].score < 1e-9;
      };
      if (request.fusion == Fusion::kScores && (equal_scores(1) || equal_scores(2))) continue;

      request.feedback = 0.1 + static_cast<double>(random() % 10) / 10;
      const SearchResult found = made.storage->search(request);
      SearchRequest whole = request;
      whole.top_k = 2 * leg_depth(request);
      const std::vector<Hit> expected = naive.search_to_depth(whole, leg_depth(request), matches);
      std::map<std::uint32_t, Hit> by_ordinal;
      for (const Hit& hit : expected) by_ordinal[hit.ordinal] = hit;
      REQUIRE(found.hits.size() == std::min(expected.size(), request.top_k));
      std::size_t others = 0;
      for (std::size_t i = 0; i < found.hits.size(); ++i) {
        const Hit& hit = found.hits[i];
        const Hit& naive_hit = by_ordinal.at(hit.ordinal);
        CHECK(std::abs(hit.score - expected[i].score) < 1e-5);
        CHECK(std::abs(hit.score - naive_hit.score) < 1e-5);
        CHECK(hit.distance == naive_hit.distance && hit.bm25_score == naive_hit.bm25_score);
        CHECK(hit.dense_rank.has_value() == naive_hit.dense_rank.has_value());
        CHECK(hit.lexical_rank == naive_hit.lexical_rank);
        others += std::ranges::find(before, hit.ordinal) == before.end() ? 1 : 0;
      }
      CHECK_EQ(found.plan.feedback_added, others);
      const bool can_move = !found.hits.empty() && found.plan.dense;
      CHECK(found.plan.feedback == (can_move ? std::optional(request.feedback) : std::nullopt));
      compared += found.hits.size();
      changed += ordinals(found) != before ? 1 : 0;
      added += others;
    }
  }
  CHECK(compared > 1000);
  CHECK(changed > 100);
  CHECK(added > 20);
}

TEST("feedback decides the order, not whether something relevant was found") {
  const auto request_for = [](std::size_t record) {
    SearchRequest request = request_of(some_query(), sample().texts[record]);
    request.fusion = Fusion::kScores;
    request.top_k = 1 + record % 7;
    return request;
  };
  std::vector<double> best;
  for (std::size_t record = 0; record < 100; ++record) {
    const SearchResult found = sample().storage->search(request_for(record));
    best.push_back(std::ranges::max(found.hits, {}, &Hit::relevance).relevance);
  }
  std::vector<double> sorted = best;
  std::ranges::sort(sorted);
  std::size_t refused = 0;
  for (std::size_t record = 0; record < 100; ++record) {
    SearchRequest request = request_for(record);
    request.min_best = sorted[50];
    request.feedback = 0.5;
    const SearchResult found = sample().storage->search(request);
    CHECK_EQ(found.hits.empty(), best[record] < sorted[50]);
    CHECK_EQ(found.plan.feedback.has_value(), !found.hits.empty());
    refused += found.hits.empty() ? 1 : 0;
  }
  CHECK(refused > 20);
  CHECK(refused <= 50);
}

TEST("with feedback each min_score keeps a part of the same ranking, and other top_k of one depth begin alike") {
  SearchRequest request = request_of(some_query(), "w0 w1");
  request.fusion = Fusion::kScores;
  request.feedback = 0.5;
  request.rrf.candidates = 80;
  request.top_k = 20;
  const SearchResult all = sample().storage->search(request);
  REQUIRE(all.hits.size() == 20);
  for (std::size_t top_k = 1; top_k < 20; ++top_k) {
    request.top_k = top_k;
    const std::vector<std::uint32_t> first = ordinals(sample().storage->search(request));
    REQUIRE(first.size() == top_k);
    for (std::size_t i = 0; i < top_k; ++i) CHECK_EQ(first[i], all.hits[i].ordinal);
  }
  request.top_k = 20;
  std::vector<double> relevance;
  for (const Hit& hit : all.hits) relevance.push_back(hit.relevance);
  std::ranges::sort(relevance);
  request.min_score = relevance[10];
  std::vector<std::uint32_t> expected;
  for (const Hit& hit : all.hits) {
    if (hit.relevance >= relevance[10]) expected.push_back(hit.ordinal);
  }
  CHECK(ordinals(sample().storage->search(request)) == expected);
}

TEST("feedback does nothing without a dense leg, and in other modes") {
  for (const Mode mode : {Mode::kDense, Mode::kLexical, Mode::kHybrid}) {
    SearchRequest request = request_of(some_query(), "w0 w1");
    request.mode = mode;
    request.rrf.dense_weight = 0;
    const SearchResult without = sample().storage->search(request);
    request.feedback = 1;
    const SearchResult with = sample().storage->search(request);
    CHECK(ordinals(with) == ordinals(without));
    CHECK(!with.plan.feedback);
  }
}

}  // namespace
