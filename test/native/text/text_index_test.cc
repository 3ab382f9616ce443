#include "text/text_index.h"

#include <algorithm>
#include <string>

#include "harness.h"
#include "naive_bm25.h"
#include "sample_texts.h"
#include "text/index_data.h"

namespace lorekeep::text {
namespace {

std::shared_ptr<const TextIndex> build(const std::vector<std::string>& texts, Tokenizer tokenizer = Tokenizer::kBasic) {
  return TextIndex::build(test::views(texts), {.tokenizer = tokenizer});
}

std::string show(const std::vector<Scored>& hits) {
  std::string text;
  for (const Scored& hit : hits) text += std::to_string(hit.ordinal) + ":" + std::to_string(hit.score) + " ";
  return text;
}

std::string random_query(test::Random& random, std::size_t vocabulary) {
  std::string query = test::random_text(random, 1 + test::below(random, 7), vocabulary);
  if (test::below(random, 4) == 0) query += " nowhere";
  return query;
}

TEST("hits equal the naive scorer's, hit for hit and bit for bit, on random collections") {
  test::Random random(test::seed());
  static constexpr std::size_t kHits[] = {1, 2, 10, 100, 100000};
  static constexpr std::size_t kSizes[] = {1, 3, 63, 64, 65, 200, 1000, 2500};
  std::size_t skipped_blocks = 0;
  for (int round = 0; round < 24; ++round) {
    const std::size_t vocabulary = 3 + test::below(random, 2000);
    const std::size_t longest = 1 + test::below(random, 40);
    const auto texts = test::random_texts(random, kSizes[test::below(random, std::size(kSizes))], longest, vocabulary);
    const auto tokenizer = kTokenizers[static_cast<std::size_t>(round) % std::size(kTokenizers)].tokenizer;
    const NaiveBm25 naive(test::views(texts), tokenizer);
    const auto index = build(texts, tokenizer);
    for (int n = 0; n < 24; ++n) {
      const std::string query = random_query(random, vocabulary);
      const std::size_t k = kHits[test::below(random, std::size(kHits))];
      static constexpr std::size_t kOneIn[] = {0, 1, 2, 10, 100};
      const Bitmap filter = test::random_filter(random, texts.size(), kOneIn[test::below(random, std::size(kOneIn))]);
      const Bitmap* some = n % 2 == 0 ? nullptr : &filter;
      const auto result = index->search(query, {.k = k, .filter = some});
      const auto expected = naive.search(query, k, some);
      if (result.hits != expected) {
        CHECK_EQ(show(result.hits), show(expected));
        return;
      }
      for (const Scored& hit : result.hits) {
        const double exact = naive.score(query, hit.ordinal);
        CHECK_NEAR(hit.score, exact, 1e-5 * std::max(1.0, exact));
      }
      skipped_blocks += result.plan.blocks - result.plan.blocks_scored;
    }
  }
  CHECK(skipped_blocks > 0);
}

TEST("documents scored one by one get what a search gives them, and 0 where it does not find them") {
  test::Random random(test::seed());
  for (int round = 0; round < 12; ++round) {
    const std::size_t vocabulary = 3 + test::below(random, 300);
    const auto texts = test::random_texts(random, 700, 1 + test::below(random, 40), vocabulary);
    const auto index = build(texts, kTokenizers[static_cast<std::size_t>(round) % std::size(kTokenizers)].tokenizer);
    std::vector<std::uint32_t> ordinals(texts.size());
    for (std::uint32_t i = 0; i < ordinals.size(); ++i) ordinals[i] = i;
    std::shuffle(ordinals.begin(), ordinals.end(), random);
    for (int n = 0; n < 12; ++n) {
      const TextQuery query(*index, random_query(random, vocabulary));
      std::vector<float> expected(texts.size());
      TextSearchPlan plan;
      for (const Scored& hit : query.search({.k = texts.size()}, plan)) expected[hit.ordinal] = hit.score;
      std::vector<float> scores(ordinals.size(), -1.0f);
      query.score(ordinals, scores);
      std::size_t different = 0;
      for (std::size_t i = 0; i < ordinals.size(); ++i) different += scores[i] != expected[ordinals[i]] ? 1 : 0;
      CHECK_EQ(different, 0u);
      CHECK(query.work(1) > 0);
      CHECK(query.work(100) > query.work(10));
    }
  }
}

TEST("a document has all words of a query if its tokens include each of the query's") {
  test::Random random(test::seed());
  std::size_t complete = 0;
  for (const auto& [tokenizer, name] : kTokenizers) {
    if (tokenizer == Tokenizer::kMultilingual) continue;  // variants count as well
    const auto texts = test::random_texts(random, 300, 30, 12);
    const auto index = build(texts, tokenizer);
    for (int n = 0; n < 20; ++n) {
      const std::string words = random_query(random, 12);
      const TextQuery query(*index, words);
      const std::vector<std::string> wanted = tokenize(words, tokenizer);
      for (std::uint32_t i = 0; i < texts.size(); ++i) {
        const std::vector<std::string> held = tokenize(texts[i], tokenizer);
        const bool expected = !wanted.empty() && std::ranges::all_of(wanted, [&](const std::string& word) {
          return std::ranges::find(held, word) != held.end();
        });
        complete += expected ? 1 : 0;
        CHECK_EQ(query.all_words_in(i), expected);
      }
    }
  }
  CHECK(complete > 0);
  const auto index = build({"Die Häuser am See", "am See"}, Tokenizer::kMultilingual);
  CHECK(TextQuery(*index, "hauser see").all_words_in(0));
  CHECK(!TextQuery(*index, "hauser see").all_words_in(1));
  CHECK(!TextQuery(*index, "see berg").all_words_in(1));
  CHECK(!TextQuery(*index, "...").all_words_in(1));
}

TEST("the score is Okapi BM25's") {
  const auto index = build({"apple banana", "apple apple cherry date", "banana"});
  const auto result = index->search("apple", {});
  REQUIRE(result.hits.size() == 2);
  // N 3, n 2, average length 7/3. Document 1: tf 2, length 4; document 0: tf 1, length 2.
  const double idf = std::log(1 + 1.5 / 2.5);
  CHECK_EQ(result.hits[0].ordinal, 1u);
  CHECK_NEAR(result.hits[0].score, idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / (7.0 / 3))), 1e-6);
  CHECK_EQ(result.hits[1].ordinal, 0u);
  CHECK_NEAR(result.hits[1].score, idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (7.0 / 3))), 1e-6);
}

TEST("a term that occurs twice in the query counts twice") {
  const auto index = build({"apple banana", "cherry", "apple"});
  const auto once = index->search("apple", {});
  const auto twice = index->search("apple Apple", {});
  REQUIRE(once.hits.size() == 2 && twice.hits.size() == 2);
  CHECK_NEAR(twice.hits[0].score, 2 * once.hits[0].score, 1e-6);
  REQUIRE(twice.terms.size() == 1);
  CHECK_EQ(twice.terms[0].occurrences, 2u);
}

TEST("equal scores come in order of ordinals") {
  const auto index = build(std::vector<std::string>(300, "same text"));
  const auto result = index->search("text", {.k = 200});
  REQUIRE(result.hits.size() == 200);
  for (std::uint32_t i = 0; i < 200; ++i) CHECK_EQ(result.hits[i].ordinal, i);
}

TEST("the result tells the query's terms and what was done") {
  const auto index = build({"one two", "two three", ""});
  const auto result = index->search("Two, four TWO!", {});
  REQUIRE(result.terms.size() == 2);
  CHECK_EQ(result.terms[0].text, "two");
  CHECK_EQ(result.terms[0].occurrences, 2u);
  CHECK_EQ(result.terms[0].documents, 2u);
  CHECK_EQ(result.terms[1].text, "four");
  CHECK_EQ(result.terms[1].documents, 0u);
  CHECK_EQ(result.plan.blocks, 1u);
  CHECK_EQ(result.plan.blocks_scored, 1u);
  CHECK_EQ(result.plan.documents_scored, 2u);
  CHECK(index->search("...", {}).terms.empty());
}

TEST("nothing to find is an empty result: no tokens, no such term, k 0, an empty filter, an empty index") {
  const auto index = build({"one two", "three"});
  const Bitmap none(2);
  CHECK(index->search("", {}).hits.empty());
  CHECK(index->search("?!", {}).hits.empty());
  CHECK(index->search("absent", {}).hits.empty());
  CHECK(index->search("one", {.k = 0}).hits.empty());
  CHECK(index->search("one", {.filter = &none}).hits.empty());
  const auto empty = build({});
  CHECK_EQ(empty->documents(), 0u);
  CHECK(empty->search("one", {}).hits.empty());
  const auto blank = build({"", "..."});
  CHECK_EQ(blank->terms(), 0u);
  CHECK(blank->search("one", {}).hits.empty());
}

TEST("a filter of another size is refused") {
  const auto index = build({"one", "two"});
  const Bitmap wrong(3);
  CHECK_FAILS(Code::kInvalidArgument, index->search("one", {.filter = &wrong}));
}

TEST("frequencies beyond the cap count as the cap, lengths in full") {
  std::string repeated;
  for (std::uint32_t i = 0; i < kMaxTermFrequency + 10; ++i) repeated += "again ";
  const std::vector<std::string> texts = {repeated, "again", "other"};
  const auto index = build(texts);
  CHECK_EQ(index->tokens(), std::uint64_t{kMaxTermFrequency} + 12);
  CHECK(index->search("again other", {}).hits ==
        NaiveBm25(test::views(texts), Tokenizer::kBasic).search("again other", 10));
}

TEST("a query of thousands of words is answered") {
  test::Random random(test::seed());
  const auto texts = test::random_texts(random, 500, 20, 5000);
  const std::string query = test::random_text(random, 6000, 5000);
  CHECK(build(texts)->search(query, {}).hits == NaiveBm25(test::views(texts), Tokenizer::kBasic).search(query, 10));
}

TEST("a raised cancel token stops build and search") {
  CancelToken cancel;
  cancel.cancel();
  const std::vector<std::string> texts = {"one", "two"};
  CHECK_FAILS(Code::kCancelled, TextIndex::build(test::views(texts), {.work = {.cancel = &cancel}}));
  CHECK_FAILS(Code::kCancelled, build(texts)->search("one", {.cancel = &cancel}));
}

TEST("what the text callback throws comes out of the build") {
  const auto broken = [](std::size_t document) -> std::string_view {
    if (document == 3) fail(Code::kIo, "the text of document 3 cannot be read");
    return "text";
  };
  CHECK_FAILS(Code::kIo, TextIndex::build(5, broken, {}));
  CHECK_FAILS(Code::kInvalidArgument, TextIndex::build(kMaxDocuments + 1, broken, {}));
}

TEST("words that were chosen for one bucket of the dictionary are found, and no others") {
  std::vector<std::string> words;
  for (std::size_t i = 0; words.size() < 4000; ++i) {
    std::string word = "w" + std::to_string(i);
    if (term_hash(word) >> 56 == 0) words.push_back(std::move(word));
  }
  const std::vector<std::string> absent(words.begin() + 2000, words.end());
  words.resize(2000);
  const auto index = build(words);
  const IndexData& data = index->data();
  std::size_t most = 0;
  for (std::size_t bucket = 0; bucket + 1 < data.buckets.size(); ++bucket) {
    std::size_t entries = 0;
    const std::byte* at = data.entries.data() + data.buckets[bucket];
    while (at < data.entries.data() + data.buckets[bucket + 1]) {
      TermEntry::parse(at);
      ++entries;
    }
    most = std::max(most, entries);
  }
  CHECK(most > 10 * TermBuckets::kFew);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto result = index->search(words[i], {.k = 2});
    CHECK(result.hits.size() == 1 && result.hits.front().ordinal == i);
    CHECK(!index->find(absent[i]));
  }
}

}  // namespace
}  // namespace lorekeep::text
