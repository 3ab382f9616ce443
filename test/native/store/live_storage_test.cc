#include "store/live_storage.h"

#include <algorithm>
#include <limits>
#include <random>

#include "changing_records.h"
#include "harness.h"
#include "sample_storage.h"
#include "store/distinct.h"
#include "store/lexical_search.h"
#include "store/prepared_filter.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::store;

bool equal(const Hit& a, const Hit& b) {
  return a.ordinal == b.ordinal && a.score == b.score && a.dense_rank == b.dense_rank &&
         a.lexical_rank == b.lexical_rank && a.distance == b.distance && a.bm25_score == b.bm25_score &&
         a.dense_score == b.dense_score && a.lexical_score == b.lexical_score && a.relevance == b.relevance;
}

bool equal(const SearchResult& a, const SearchResult& b) {
  return a.hits.size() == b.hits.size() && a.floor == b.floor && a.plan.matched == b.plan.matched &&
         a.plan.lexical_tokens == b.plan.lexical_tokens && a.plan.lexical_terms == b.plan.lexical_terms &&
         std::equal(a.hits.begin(), a.hits.end(), b.hits.begin(),
                    [](const Hit& x, const Hit& y) { return equal(x, y); });
}

/// A search with its operands.
struct RandomSearch {
  std::vector<float> query;
  std::string text;
  LexicalOptions lexical;
  PreparedFilter filter;
  SearchRequest request;

  RandomSearch(const ChangingRecords& records, std::mt19937_64& random) {
    query = random_vector(records.dimension(), random);
    text = random_text(random() % 5, random);
    if (random() % 2 == 0) text += "rare" + std::to_string(random() % 30);
    request.mode = static_cast<Mode>(random() % 3);
    request.top_k = 1 + random() % 12;
    request.exact = true;
    if (random() % 3 == 0) request.threshold = static_cast<float>(random() % 20) / 10;
    request.fusion = random() % 2 == 0 ? Fusion::kScores : Fusion::kRrf;
    request.rrf.candidates = random() % 2 == 0 ? 0 : request.top_k;
    request.adapt_weight = random() % 2 == 0;
    if (random() % 3 == 0) request.feedback = 0.5;
    if (random() % 2 == 0) {
      const auto year = static_cast<std::int64_t>(random() % 100);
      const filter::Value json = filter::Object{{"<", filter::Array{filter::Object{{"knowledge", "year"}}, year}}};
      filter.predicate = filter::Predicate::compile(json, records.schema())->bind();
      filter.to_cell_order = random() % 2 == 0;
      request.filter = &filter;
    }
    if (random() % 2 == 0) extend(random);
    request.query = query;
    request.text = text;
  }
  RandomSearch(const RandomSearch&) = delete;

 private:
  void extend(std::mt19937_64& random) {
    lexical.query.syntax = random() % 2 == 0;
    lexical.query.fuzziness = random() % 2 == 0;
    if (random() % 2 == 0) lexical.boosts.emplace_back("title", 1.5f);
    if (random() % 3 == 0) lexical.query.synonyms = {{"w1", "w2"}, {"w3", "rare1"}};
    if (random() % 3 == 0) lexical.query.stopwords = {"w0"};
    if (lexical.query.syntax) {
      const char* const clauses[] = {" +w1",     " -w2",   " \"w1 w2\"",  " rar*",
                                     " +rare1*", " walk*", " -\"w0 w1\"", " w1*"};
      for (std::size_t i = random() % 3; i > 0; --i) text += clauses[random() % 8];
    }
    request.lexical = &lexical;
  }
};

void check_records(const Storage& live, const ChangingRecords& twin) {
  REQUIRE(live.size() == twin.records().size());
  for (std::uint32_t i = 0; i < live.size(); ++i) {
    const Record& record = twin.records()[i];
    CHECK(live.id(i) == record.id && live.text(i) == record.text);
    CHECK(live.find(record.id) == i);
    CHECK_EQ(live.ordinal_of(live.row_of(i)), i);
    const Place at = live.place(i);
    const auto year = at.segment.metadata()->value(at.row, 0);
    CHECK(year.has_value() == record.year.has_value() && (!year || std::get<std::int64_t>(*year) == *record.year));
  }
  CHECK(!live.find("unknown"));
}

void check_statistics(const Storage& live, const Storage& fresh) {
  CHECK_EQ(live.words().documents(), fresh.words().documents());
  CHECK_EQ(live.words().tokens(), fresh.words().tokens());
  for (const std::string_view term : fresh.text_index()->sample_terms(1000)) {
    CHECK_EQ(live.words().documents_with(term, nullptr), fresh.words().documents_with(term, nullptr));
  }
  CHECK_EQ(live.words().starting_with("", nullptr).size(), fresh.words().starting_with("", nullptr).size());
  for (std::uint32_t i = 0; i < live.size(); ++i) CHECK(live.embedding(i) == fresh.embedding(i));
}

void check_searches(const Storage& live, const Storage* fresh, const ChangingRecords& twin, std::size_t count,
                    std::mt19937_64& random) {
  for (std::size_t i = 0; i < count; ++i) {
    const RandomSearch search(twin, random);
    const SearchResult found = live.search(search.request);
    if (fresh == nullptr) {
      CHECK(found.hits.empty());
      continue;
    }
    CHECK(equal(found, fresh->search(search.request)));
    std::vector<std::uint32_t> ordinals;
    for (const Hit& hit : found.hits) ordinals.push_back(hit.ordinal);
    CHECK(highlights(live, search.text, search.lexical, ordinals, text::Shown::kAll, {}) ==
          highlights(*fresh, search.text, search.lexical, ordinals, text::Shown::kAll, {}));
    CHECK(distinct(live, ordinals, 0.3f, 5) == distinct(*fresh, ordinals, 0.3f, 5));
  }
}

/// Applies random batches and compares with a fresh build after every `step`-th.
void compare(ChangingRecords twin, std::size_t batches, std::size_t step, std::size_t ids, std::size_t most) {
  std::mt19937_64 random(test::seed());
  Script first;
  first.add.push_back(twin.random_record("id0", random));
  twin.apply(first);
  LiveStorage live(twin.build());
  std::size_t emptied = 0;
  std::uint64_t version = 0;
  for (std::size_t batch = 1; batch <= batches; ++batch) {
    const Script script = twin.random_script(ids, most, random);
    const bool empty = script.add.empty() && script.replace.empty() && script.remove.empty();
    const Changed changed = live.update(twin.changes(script), {});
    twin.apply(script);
    version += empty ? 0 : 1;
    CHECK_EQ(changed.version, version);
    CHECK_EQ(changed.size, twin.records().size());
    CHECK(changed.added == script.add.size() && changed.replaced == script.replace.size() &&
          changed.removed == script.remove.size());
    if (batch % 7 == 0) live.merge(random() % 4 == 0, {});
    if (twin.records().empty()) ++emptied;
    if (batch % step != 0 && !twin.records().empty()) continue;
    const auto current = live.current();
    CHECK_EQ(current->version(), version);
    check_records(*current, twin);
    const auto fresh = twin.records().empty() ? nullptr : twin.build();
    if (fresh) check_statistics(*current, *fresh);
    check_searches(*current, fresh.get(), twin, 8, random);
  }
  if (ids < 10) CHECK(emptied > 0);
}

TEST("after random changes a storage equals a fresh one, to the bit") {
  compare({4, text::Tokenizer::kBasic, vector::VectorType::kF32}, test::repetitions(4'000, 10'000),
          test::repetitions(40, 1), 60, 3);
}

TEST("so it does for every tokenizer and vector type, and if it is emptied often") {
  compare({4, text::Tokenizer::kEnhanced, vector::VectorType::kF16}, 400, 4, 5, 4);
  const std::size_t tenths = test::repetitions(5, 10);
  compare({6, text::Tokenizer::kMultilingual, vector::VectorType::kI8}, 40 * tenths, 8, 80, 30);
  compare({64, text::Tokenizer::kBasic, vector::VectorType::kI10}, 30 * tenths, 10, 700, 300);
  compare({64, text::Tokenizer::kEnhanced, vector::VectorType::kF32}, 10 * tenths, 10, 1500, 900);
}

template <class Body>
Error error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::kInternal, "nothing was thrown");
}

std::string detail(const Error& error, const std::string& name) {
  for (const auto& [key, value] : error.details()) {
    if (key == name && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
  }
  return "";
}

TEST("a batch that cannot be applied names the ids and changes nothing") {
  std::mt19937_64 random(test::seed());
  ChangingRecords twin(4, text::Tokenizer::kBasic, vector::VectorType::kF32);
  Script first;
  for (const char* const id : {"a", "b", "c"}) first.add.push_back(twin.random_record(id, random));
  twin.apply(first);
  LiveStorage live(twin.build());
  const auto record = [&](const char* id) { return twin.random_record(id, random); };
  const auto refused = [&](const Script& script) { return error_of([&] { live.update(twin.changes(script), {}); }); };
  const Error exists = refused({.add = {record("new"), record("a"), record("\"b\"\n"), record("b")}});
  CHECK(exists.code() == Code::kRecordExists);
  CHECK_EQ(detail(exists, "ids"), std::string(R"(["a","b"])"));
  const Error missing = refused({.replace = {record("x\n")}, .remove = {"a", "y"}});
  CHECK(missing.code() == Code::kRecordMissing);
  CHECK_EQ(detail(missing, "ids"), std::string(R"(["x\u000a","y"])"));
  CHECK(refused({.add = {record("n"), record("n")}}).code() == Code::kDuplicateId);
  CHECK(refused({.replace = {record("a")}, .remove = {"a"}}).code() == Code::kDuplicateId);
  CHECK(refused({.add = {record("n")}, .replace = {record("n")}, .upsert = true}).code() == Code::kDuplicateId);
  CHECK(refused({.add = {record("")}}).code() == Code::kInvalidArgument);
  Script broken{.add = {record("n")}, .remove = {"a"}};
  broken.add[0].vector[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(refused(broken).code() == Code::kInvalidArgument);
  broken.add[0].vector[1] = std::numeric_limits<float>::infinity();
  CHECK(refused(broken).code() == Code::kInvalidArgument);
  broken.add[0].vector.pop_back();
  CHECK(refused(broken).code() == Code::kDimensionMismatch);
  Changes without = twin.changes({.add = {record("n")}});
  without.metadata = nullptr;
  CHECK(error_of([&] { live.update(std::move(without), {}); }).code() == Code::kInvalidArgument);
  Changes late = twin.changes({.remove = {"a"}});
  late.if_version = 7;
  CHECK(error_of([&] { live.update(std::move(late), {}); }).code() == Code::kVersionMismatch);
  CancelToken cancel;
  cancel.cancel();
  CHECK(error_of([&] { live.update(twin.changes({.remove = {"a"}}), {.cancel = &cancel}); }).code() ==
        Code::kCancelled);
  CHECK_EQ(live.current()->version(), 0u);
  check_records(*live.current(), twin);
  // Unicode forms of a text are different ids.
  const Script forms{.add = {record("\xC3\xA9"), record("e\xCC\x81")}};
  CHECK_EQ(live.update(twin.changes(forms), {}).added, 2u);
  Changes right = twin.changes({.add = {record("a"), record("d")}, .upsert = true});
  right.if_version = 1;
  const Changed changed = live.update(std::move(right), {});
  CHECK(changed.added == 1 && changed.replaced == 1 && changed.version == 2 && changed.size == 6);
}

TEST("older versions stay readable within their limits") {
  std::mt19937_64 random(test::seed());
  ChangingRecords twin(4, text::Tokenizer::kBasic, vector::VectorType::kF32);
  twin.apply({.add = {twin.random_record("a", random)}});
  LiveStorage live(twin.build());
  live.keep({.count = 3});
  std::vector<ChangingRecords> states{twin};
  for (int i = 0; i < 6; ++i) {
    const Script script{.add = {twin.random_record("n" + std::to_string(i), random)}};
    live.update(twin.changes(script), {});
    twin.apply(script);
    states.push_back(twin);
    live.merge(true, {});
  }
  const auto versions = live.versions();
  REQUIRE(versions.size() == 4);
  for (const VersionFacts& facts : versions) {
    CHECK_EQ(facts.size, states[facts.version].records().size());
    check_records(*live.at(facts.version), states[facts.version]);
  }
  CHECK_FAILS(Code::kVersionGone, live.at(2));
  CHECK_FAILS(Code::kVersionGone, live.at(7));
  live.keep({.count = 100, .bytes = 0});
  CHECK_EQ(live.versions().size(), 1u);
}

TEST("a forgotten record is in no version and no segment") {
  std::mt19937_64 random(test::seed());
  ChangingRecords twin(4, text::Tokenizer::kBasic, vector::VectorType::kF32);
  Script first;
  for (int i = 0; i < 200; ++i) first.add.push_back(twin.random_record("id" + std::to_string(i), random));
  first.add[50].text = "secretword";
  twin.apply(first);
  LiveStorage live(twin.build());
  live.keep({.count = 10});
  Record again = first.add[50];
  again.text = "secretword once more";
  const Script second{.replace = {again}, .remove = {"id7"}};
  live.update(twin.changes(second), {});
  twin.apply(second);
  const std::vector<std::string> ids{"id50", "unknown"};
  CHECK_FAILS(Code::kRecordMissing, live.forget(ids, false, {}));
  const Changed changed = live.forget(ids, true, {});
  CHECK(changed.removed == 1 && changed.version == 2);
  twin.apply({.remove = {"id50"}});
  check_records(*live.current(), twin);
  check_searches(*live.current(), twin.build().get(), twin, 20, random);
  for (const VersionFacts& facts : live.versions()) {
    const auto version = live.at(facts.version);
    CHECK(!version->find("id50"));
    for (const Part& part : version->parts()) {
      CHECK(!part.segment->find("id50"));
      CHECK(!part.segment->text_index()->find("secretword"));
    }
  }
  CHECK_EQ(live.at(0)->size(), 199u);
  CHECK(live.at(0)->find("id7").has_value());
}

TEST("what an id named before is in no older version and no segment, and the newest record stays") {
  std::mt19937_64 random(test::seed());
  ChangingRecords twin(4, text::Tokenizer::kBasic, vector::VectorType::kF32);
  Script first;
  for (int i = 0; i < 20; ++i) first.add.push_back(twin.random_record("id" + std::to_string(i), random));
  first.add[5].text = "secretword";
  twin.apply(first);
  LiveStorage live(twin.build());
  live.keep({.count = 10});
  Record again = first.add[5];
  again.text = "later";
  const Script second{.replace = {again}, .remove = {"id7"}};
  live.update(twin.changes(second), {});
  twin.apply(second);
  live.forget_former(std::vector<std::string>{"id5", "id7", "id9", "unknown"}, {});
  check_records(*live.current(), twin);
  check_searches(*live.current(), twin.build().get(), twin, 20, random);
  CHECK_EQ(live.versions().size(), 2u);
  const auto before = live.at(0);
  CHECK(!before->find("id5") && !before->find("id7") && before->find("id9"));
  for (const Part& part : before->parts()) CHECK(!part.segment->text_index()->find("secretword"));
}

}  // namespace
