// Queries with operators: how they are read, and that their results equal the slow twin's.
#include "text/extended_search.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "core/values/error.h"
#include "harness.h"
#include "naive_extended.h"
#include "text/highlight.h"
#include "text/one_edit.h"
#include "text/prefix_set.h"

namespace {

using namespace lorekeep;
using namespace lorekeep::text;
using Sign = Clause::Sign;

std::shared_ptr<const TextIndex> index_of(const std::vector<std::string>& texts, Tokenizer tokenizer) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return TextIndex::build(views, {tokenizer, {}});
}

TextOf text_of(const std::vector<std::string>& texts) {
  return [&texts](std::size_t document) -> std::string_view { return texts[document]; };
}

TEST("extended syntax: signs, quotes and asterisks count where a word follows or precedes") {
  const std::vector<std::pair<const char*, std::vector<Clause>>> cases = {
      {"", {}},
      {"  \t ", {}},
      {"sea lamp", {{Sign::kNone, false, false, "sea"}, {Sign::kNone, false, false, "lamp"}}},
      {"+sea -lamp", {{Sign::kRequired, false, false, "sea"}, {Sign::kExcluded, false, false, "lamp"}}},
      {"+ sea - lamp",
       {{Sign::kNone, false, false, "+"},
        {Sign::kNone, false, false, "sea"},
        {Sign::kNone, false, false, "-"},
        {Sign::kNone, false, false, "lamp"}}},
      {"well-known c++", {{Sign::kNone, false, false, "well-known"}, {Sign::kNone, false, false, "c++"}}},
      {"\"the sea\" -\"a lamp\"", {{Sign::kNone, true, false, "the sea"}, {Sign::kExcluded, true, false, "a lamp"}}},
      {"\"not closed", {{Sign::kNone, true, false, "not closed"}}},
      {"\"\" + -\"\"", {{Sign::kNone, false, false, "+"}}},
      {"lamp* +se* *", {{Sign::kNone, false, true, "lamp"}, {Sign::kRequired, false, true, "se"}}},
      {"a\"b c\"d",
       {{Sign::kNone, false, false, "a"}, {Sign::kNone, true, false, "b c"}, {Sign::kNone, false, false, "d"}}},
      {"+a\u3000-b\u00A0c \u2003 d",
       {{Sign::kRequired, false, false, "a"},
        {Sign::kExcluded, false, false, "b"},
        {Sign::kNone, false, false, "c"},
        {Sign::kNone, false, false, "d"}}},
      {"+\u3000a", {{Sign::kNone, false, false, "+"}, {Sign::kNone, false, false, "a"}}},
      {"--a ++", {{Sign::kExcluded, false, false, "-a"}, {Sign::kRequired, false, false, "+"}}},
  };
  for (const auto& [query, clauses] : cases) CHECK(parse_clauses(query) == clauses);
  CHECK_EQ(plain_text("+sea -lamp \"the keeper\" bo* -\"a b\""), "sea the keeper bo");
  std::string many;
  for (std::size_t i = 0; i < kMaxClauses; ++i) many += "a ";
  CHECK_EQ(parse_clauses(many).size(), kMaxClauses);
  CHECK_FAILS(Code::kInvalidArgument, parse_clauses(many + "a"));
}

TEST("extended syntax: one edit is what the table of distances says") {
  std::mt19937_64 random(lorekeep::test::seed());
  std::size_t edits = 0;
  for (int round = 0; round < 20000; ++round) {
    std::u32string a, b;
    for (std::size_t i = random() % 6; i > 0; --i) a.push_back(U"abé"[random() % 3]);
    b = a;
    if (!b.empty() && random() % 2 == 0) b.erase(random() % b.size(), 1);
    if (random() % 2 == 0)
      b.insert(b.begin() + static_cast<std::ptrdiff_t>(random() % (b.size() + 1)), U"abé"[random() % 3]);
    if (b.size() > 1 && random() % 2 == 0) std::swap(b[0], b[1]);
    CHECK_EQ(is_one_edit(a, b), lorekeep::text::test::naive_one_edit(a, b));
    edits += is_one_edit(a, b) ? 1 : 0;
  }
  CHECK(edits > 2000);
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  /// Words share beginnings, and some are one edit apart.
  std::string word() {
    static const std::vector<std::string> kWords = {
        "lamp",     "lamps",       "lump",          "lantern",    "sea",     "seas",      "seal",      "ship",
        "ships",    "shop",        "keeper",        "keep",       "keen",    "the",       "Straße",    "strasse",
        "café",     "cafe",        "running",       "runs",       "1984",    "1985",      "mp3s",      "mp4s",
        "organ",    "organize",    "organizations", "nationally", "nations", "amusement", "amusing",   "flies",
        "applying", "application", "settings",      "setted",     "classes", "families",  "anomalies", "basically"};
    return kWords[std::min(below(kWords.size()), below(kWords.size()))];
  }
  std::string text(std::size_t most) {
    std::string text;
    for (std::size_t i = below(most + 1); i > 0; --i) text += word() + (below(6) == 0 ? ". " : " ");
    return text;
  }
  std::string query(std::size_t most = 4) {
    static const char* const kSigns[] = {"", "", "", "+", "-"};
    std::string query;
    for (std::size_t i = 1 + below(most); i > 0; --i) {
      query += kSigns[below(5)];
      switch (below(5)) {
        case 0: query += '"' + word() + ' ' + word() + (below(3) == 0 ? ' ' + word() : "") + '"'; break;
        case 1:
          if (below(3) == 0) query += word() + "-" + (below(3) == 0 ? word() + "." : "");
          query += word().substr(0, 1 + below(below(2) == 0 ? 4 : 12)) + '*';
          break;
        case 2: query += std::vector<const char*>{"lammp", "seka", "1986", "mp5s"}[below(4)]; break;
        default: query += word();
      }
      query += ' ';
    }
    return query;
  }

 private:
  std::mt19937_64 random_;
};

void compare(Generator& generator, Tokenizer tokenizer, int round, const std::string& query, std::size_t most) {
  namespace naive = lorekeep::text::test;
  std::vector<naive::NaiveTexts> texts(1 + generator.below(2));
  const std::size_t documents = 1 + generator.below(most);
  for (std::size_t t = 0; t < texts.size(); ++t) {
    for (std::size_t i = 0; i < documents; ++i) texts[t].texts.push_back(generator.text(t == 0 ? 12 : 3));
    if (t > 0) texts[t].boost = 2.5;
  }
  QueryOptions options{.syntax = generator.below(5) > 0, .fuzziness = generator.below(2) == 0};
  if (generator.below(2) == 0) options.synonyms = {{"lamp", "lantern"}, {"sea", "seal", "ship"}};
  if (generator.below(3) == 0) options.stopwords = {"the", "Keep"};
  std::vector<std::shared_ptr<const TextIndex>> indexes;
  std::vector<SearchedTexts> searched;
  for (const auto& text : texts) {
    indexes.push_back(index_of(text.texts, tokenizer));
    searched.push_back({indexes.back().get(), text_of(text.texts), static_cast<float>(text.boost)});
  }
  Bitmap filter(documents, true);
  for (std::size_t i = 0; i < documents; ++i) {
    if (generator.below(4) == 0) filter.reset(i);
  }
  const bool filtered = generator.below(2) == 0;
  auto expected = naive::naive_extended(texts, tokenizer, query, options);
  if (filtered) std::erase_if(expected, [&filter](const auto& hit) { return !filter.test(hit.first); });

  const ExtendedSearch search(searched, query, options, filtered ? &filter : nullptr, {});
  const auto hits = search.search(documents);
  bool same = hits.size() == expected.size();
  for (std::size_t i = 0; same && i < hits.size(); ++i) {
    const auto found = expected.find(hits[i].ordinal);
    same = found != expected.end() && std::fabs(hits[i].score - found->second) < 1e-4 * (1 + found->second);
    same = same && (i == 0 || hits[i - 1].score >= hits[i].score);
  }
  if (!same) lorekeep::test::report_failure(__FILE__, __LINE__, "round " + std::to_string(round) + ": " + query);
  const auto first = search.search(3);
  CHECK(std::equal(first.begin(), first.end(), hits.begin()));
}

TEST("extended search: finds and scores what the slow twin does, on random texts and queries") {
  for (int round = 0; round < 1500; ++round) {
    Generator generator(lorekeep::test::seed() + static_cast<std::uint64_t>(round));
    const std::string query = generator.query();
    compare(generator, round % 2 == 0 ? Tokenizer::kBasic : Tokenizer::kEnhanced, round, query, 150);
  }
}

/// Many clauses that most texts satisfy: excluded phrases of which few occur, required ones that nearly all texts have.
std::string many_clauses(Generator& generator) {
  std::string query;
  for (std::size_t i = 1 + generator.below(40); i > 0; --i) {
    const std::string words = generator.word() + (generator.below(3) == 0 ? "-" + generator.word() : "");
    switch (generator.below(6)) {
      case 0: query += "-\"" + words + '-' + generator.word() + '-' + generator.word() + '"'; break;
      case 1: query += '-' + words + '-' + generator.word().substr(0, 1 + generator.below(9)) + '*'; break;
      case 2: query += '-' + generator.word() + "ly*"; break;
      case 3: query += generator.word().substr(0, 2 + generator.below(8)) + '*'; break;
      case 4: query += "+s*"; break;
      default: query += words;
    }
    query += ' ';
  }
  return query;
}

TEST("extended search: many phrases and prefixes at once are those of the slow twin") {
  std::size_t clauses = 0;
  for (int round = 0; round < 600; ++round) {
    Generator generator(lorekeep::test::seed() + static_cast<std::uint64_t>(round));
    const std::string query = round % 3 == 0 ? generator.query(25) : many_clauses(generator);
    clauses += parse_clauses(query).size();
    compare(generator, round % 2 == 0 ? Tokenizer::kBasic : Tokenizer::kEnhanced, round, query, 40);
  }
  CHECK(clauses > 6000);
}

TEST("extended search: each text is read at most twice, however many clauses there are") {
  Generator generator(lorekeep::test::seed());
  std::vector<std::string> texts;
  for (int i = 0; i < 50; ++i) texts.push_back("an organization of running ships, nationally " + generator.text(30));
  const auto index = index_of(texts, Tokenizer::kEnhanced);
  std::vector<int> reads(texts.size());
  const TextOf counting = [&](std::size_t document) -> std::string_view {
    ++reads[document];
    return texts[document];
  };
  const SearchedTexts searched{index.get(), counting, 1};
  const auto most_reads = [&](const std::string& query) {
    std::fill(reads.begin(), reads.end(), 0);
    ExtendedSearch({&searched, 1}, query, {.syntax = true}, nullptr, {});
    return *std::max_element(reads.begin(), reads.end());
  };
  std::string prefixes, excluded, phrases;
  for (const char* const end : {"", "a", "al", "all", "ally"}) {
    for (const char* const word : {"organiza", "runn", "nation", "ship"}) {
      const std::string text = std::string(word) + end;
      prefixes += text + "* +" + text.substr(0, 3) + "* ";
      excluded += '-' + text + "x* ";
      phrases += "-\"ships organization " + text + "\" -ships-" + text + "* ";
    }
  }
  CHECK_EQ(most_reads("ships organization"), 0);
  CHECK_EQ(most_reads(prefixes + excluded), 1);
  CHECK_EQ(most_reads("ships " + phrases), 1);
  CHECK_EQ(most_reads(prefixes + excluded + phrases), 2);
}

TEST("extended search: a search that is cancelled while it reads texts ends before the next long text") {
  const std::string long_text = "national organization " + std::string(4 * kTextBytesPerPoll, '.') + " keeper";
  const std::vector<std::string> texts(100, long_text);
  const auto index = index_of(texts, Tokenizer::kEnhanced);
  for (const char* const query :
       {"nationa*", "+organiza* -nationa*", "\"organization keeper\"", "keeper -national-org*"}) {
    CancelToken cancel;
    int reads = 0;
    const TextOf cancelling = [&](std::size_t document) -> std::string_view {
      ++reads;
      cancel.cancel();
      return texts[document];
    };
    const SearchedTexts searched{index.get(), cancelling, 1};
    CHECK_FAILS(Code::kCancelled,
                ExtendedSearch({&searched, 1}, query, {.syntax = true}, nullptr, {.cancel = &cancel}));
    CHECK_EQ(reads, 1);
  }
}

TEST("extended search: a set of prefixes has those that a word begins with") {
  std::mt19937_64 random(lorekeep::test::seed());
  const auto word = [&random](std::size_t most) {
    std::string made;
    for (std::size_t i = 1 + random() % most; i > 0; --i) made.push_back("ab\xC3"[random() % 3]);
    return made;
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> prefixes;
    for (std::size_t i = random() % 20; i > 0; --i) prefixes.push_back(word(5));
    const PrefixSet set(prefixes);
    const std::string whole = word(8);
    std::set<std::string> expected, found;
    for (const std::string& prefix : prefixes) {
      if (whole.starts_with(prefix)) expected.insert(prefix);
      CHECK_EQ(set[set.position_of(prefix)], prefix);
    }
    for (auto at = set.longest_of(whole); at != PrefixSet::kNone; at = set.shorter_than(at)) found.insert(set[at]);
    CHECK(found == expected);
  }
}

TEST("extended search: a clause that repeats counts as often as it occurs") {
  const std::vector<std::string> texts = {"old lamp", "a ship of old", "keeper and ship"};
  const auto index = index_of(texts, Tokenizer::kEnhanced);
  const SearchedTexts searched{index.get(), text_of(texts), 1};
  const auto score = [&](const std::string& query, std::uint32_t document) {
    const ExtendedSearch search({&searched, 1}, query, {.syntax = true}, nullptr, {});
    float found = 0;
    search.score({&document, 1}, {&found, 1});
    return found;
  };
  for (const char* const clause : {"lam* ", "\"old lamp\" ", "+lamp ", "+old-la* "}) {
    CHECK_EQ(score(std::string(clause) + clause, 0), 2 * score(clause, 0));
    CHECK_EQ(ExtendedSearch({&searched, 1}, std::string(clause) + clause, {.syntax = true}, nullptr, {}).tokens(),
             2 * ExtendedSearch({&searched, 1}, clause, {.syntax = true}, nullptr, {}).tokens());
  }
  CHECK_EQ(
      ExtendedSearch({&searched, 1}, "ship* -keeper -keeper -\"of old\" -\"of old\"", {.syntax = true}, nullptr, {})
          .search(3)
          .size(),
      0u);
}

TEST("extended search: phrases whose words repeat are found where the slow twin finds them") {
  namespace naive = lorekeep::text::test;
  std::mt19937_64 random(lorekeep::test::seed());
  const auto text = [&random](std::size_t words) {
    std::string text;
    for (std::size_t i = 0; i < words; ++i) text += random() % 4 == 0 ? "b " : "a ";
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<naive::NaiveTexts> texts(1);
    for (int i = 0; i < 20; ++i) texts[0].texts.push_back(text(random() % 30));
    const auto index = index_of(texts[0].texts, Tokenizer::kBasic);
    const SearchedTexts searched{index.get(), text_of(texts[0].texts), 1};
    const std::string query = '"' + text(2 + random() % 6) + '"';
    const QueryOptions options{.syntax = true};
    const auto expected = naive::naive_extended(texts, Tokenizer::kBasic, query, options);
    const auto hits = ExtendedSearch({&searched, 1}, query, options, nullptr, {}).search(20);
    CHECK_EQ(hits.size(), expected.size());
    CHECK(std::all_of(hits.begin(), hits.end(), [&](const Scored& hit) { return expected.contains(hit.ordinal); }));
  }
}

TEST("extended search: a long group of synonyms, groups that share words and a group in a circle") {
  const std::vector<std::string> texts = {"word7", "shore", "lender", "bank", "word9999 lamp"};
  const auto index = index_of(texts, Tokenizer::kBasic);
  const SearchedTexts searched{index.get(), text_of(texts), 1};
  QueryOptions options;
  std::vector<std::string> many;
  for (int i = 0; i < 10'000; ++i) many.push_back("word" + std::to_string(i));
  options.synonyms = {many, {"bank", "shore"}, {"bank", "lender", "bank"}, {"lamp", "lamp"}};
  const auto found = [&](const char* query) {
    std::vector<std::uint32_t> ordinals;
    for (const Scored& hit : ExtendedSearch({&searched, 1}, query, options, nullptr, {}).search(5)) {
      ordinals.push_back(hit.ordinal);
    }
    std::sort(ordinals.begin(), ordinals.end());
    return ordinals;
  };
  CHECK((found("word5000") == std::vector<std::uint32_t>{0, 4}));
  CHECK((found("bank") == std::vector<std::uint32_t>{1, 2, 3}));
  CHECK((found("shore") == std::vector<std::uint32_t>{1, 3}));
  CHECK((found("lamp") == std::vector<std::uint32_t>{4}));
}

TEST("extended search: fuzziness leaves words with digits as they are") {
  const std::vector<std::string> texts = {"in 1985", "part x100a", "a lantern"};
  const auto index = index_of(texts, Tokenizer::kBasic);
  const SearchedTexts searched{index.get(), text_of(texts), 1};
  const auto found = [&](const char* query) {
    return ExtendedSearch({&searched, 1}, query, {.fuzziness = true}, nullptr, {}).search(5).size();
  };
  CHECK_EQ(found("1984"), 0u);
  CHECK_EQ(found("x100b"), 0u);
  CHECK_EQ(found("lantarn"), 1u);
}

TEST("extended search: a query of words has the scores of a plain search, to the bit, in every tokenizer") {
  Generator generator(lorekeep::test::seed());
  std::vector<std::string> texts;
  for (int i = 0; i < 700; ++i) texts.push_back(generator.text(30) + (i % 3 == 0 ? " 北京大学 naïve houses" : ""));
  for (const auto& known : kTokenizers) {
    const auto index = index_of(texts, known.tokenizer);
    const SearchedTexts searched{index.get(), text_of(texts), 1};
    for (int round = 0; round < 40; ++round) {
      const std::string query = generator.text(5) + (round % 4 == 0 ? " 北京 house sea sea" : "");
      const auto plain = index->search(query, {.k = 20});
      const ExtendedSearch extended({&searched, 1}, query, {.syntax = true}, nullptr, {});
      CHECK(extended.search(20) == plain.hits);
      std::vector<std::uint32_t> ordinals(texts.size());
      for (std::uint32_t i = 0; i < ordinals.size(); ++i) ordinals[i] = i;
      std::vector<float> ours(texts.size()), theirs(texts.size());
      extended.score(ordinals, ours);
      TextQuery(*index, query).score(ordinals, theirs);
      CHECK(ours == theirs);
    }
  }
}

TEST("extended search: a prefix finds words that begin so though their stem does not, and no others of the stem") {
  const std::vector<std::string> texts = {
      "an organization", "an organ",         "organizing", "two universities", "a university",         "running water",
      "the run",         "runs and runners", "nationally", "a nation",         "Nationals are nations"};
  const auto index = index_of(texts, Tokenizer::kEnhanced);
  const SearchedTexts searched{index.get(), text_of(texts), 1};
  const auto found = [&](const char* query) {
    std::vector<std::uint32_t> ordinals;
    for (const Scored& hit : ExtendedSearch({&searched, 1}, query, {.syntax = true}, nullptr, {}).search(20)) {
      ordinals.push_back(hit.ordinal);
    }
    std::sort(ordinals.begin(), ordinals.end());
    return ordinals;
  };
  using Ordinals = std::vector<std::uint32_t>;
  CHECK(found("organiza*") == Ordinals{0});
  CHECK((found("organiz*") == Ordinals{0, 2}));
  CHECK((found("universit*") == Ordinals{3, 4}));
  CHECK((found("runn*") == Ordinals{5, 7}));
  CHECK((found("nationa*") == Ordinals{8, 10}));
  CHECK((found("+nationa* -nationall*") == Ordinals{10}));
}

TEST("extended search: a signed prefix of several tokens is a phrase whose last token is a prefix") {
  const std::vector<std::string> texts = {"北京大学在北京", "京大与北京", "น้องชายของฉัน",
                                          "พี่ชายของฉัน",      "well known", "known well"};
  const auto index = index_of(texts, Tokenizer::kMultilingual);
  const SearchedTexts searched{index.get(), text_of(texts), 1};
  const auto found = [&](const char* query) {
    std::vector<std::uint32_t> ordinals;
    for (const Scored& hit : ExtendedSearch({&searched, 1}, query, {.syntax = true}, nullptr, {}).search(20)) {
      ordinals.push_back(hit.ordinal);
    }
    std::sort(ordinals.begin(), ordinals.end());
    return ordinals;
  };
  using Ordinals = std::vector<std::uint32_t>;
  CHECK(found("+北京大*") == Ordinals{0});
  CHECK(found("北京 -北京大*") == Ordinals{1});
  CHECK(found("ของฉัน -น้องชาย*") == Ordinals{3});
  CHECK(found("well -well-kn*") == Ordinals{5});
  CHECK(found("+well-kn*") == Ordinals{4});
  CHECK((found("well-kn*") == Ordinals{4, 5}));
}

TEST("extended search: synonyms are single words, and a cancelled search ends") {
  const std::vector<std::string> texts = {"new york", "lamp"};
  const auto index = index_of(texts, Tokenizer::kBasic);
  const SearchedTexts searched{index.get(), text_of(texts), 1};
  const auto search = [&](const QueryOptions& options, const Work& work) {
    return ExtendedSearch({&searched, 1}, "lamp", options, nullptr, work).search(5);
  };
  CHECK_FAILS(Code::kInvalidArgument, search({.synonyms = {{"lamp", "new york"}}}, {}));
  CHECK_FAILS(Code::kInvalidArgument, search({.synonyms = {{"lamp", ""}}}, {}));
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, search({.fuzziness = true}, {.cancel = &cancel}));
}

std::string marked(const std::string& text, const std::string& query, Tokenizer tokenizer,
                   QueryOptions options = {.syntax = true}) {
  const auto index = index_of({text, "lamps lampoon"}, tokenizer);
  const TextIndex* const indexes[] = {index.get()};
  // All texts of this test are ASCII or in the Basic Multilingual Plane: a unit is a character.
  std::vector<std::string> units;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = 1;
    while (at + size < text.size() && (static_cast<unsigned char>(text[at + size]) & 0xC0) == 0x80) ++size;
    units.push_back(text.substr(at, size));
    at += size;
  }
  std::string out;
  std::size_t unit = 0;
  const Highlights all = Highlighter(indexes, query, options, nullptr).find(text, Shown::kAll);
  for (const Highlight& found : all.matches) {
    for (; unit < found.begin; ++unit) out += units[unit];
    out += '[';
    for (; unit < found.end; ++unit) out += units[unit];
    out += ']';
  }
  for (; unit < units.size(); ++unit) out += units[unit];
  return out;
}

TEST("highlights: the words of a text that match, whatever their form") {
  CHECK_EQ(marked("The Lamp, a lamp; lamplight.", "lamp", Tokenizer::kBasic), "The [Lamp], a [lamp]; lamplight.");
  CHECK_EQ(marked("The Lamp, a lamp; lamplight.", "lamp*", Tokenizer::kBasic), "The [Lamp], a [lamp]; [lamplight].");
  CHECK_EQ(marked("lamp and ship", "lamp -ship", Tokenizer::kBasic), "[lamp] and ship");
  CHECK_EQ(marked("the old lamp", "\"old lamp\"", Tokenizer::kBasic), "the [old] [lamp]");
  CHECK_EQ(marked("STRASSE Straße", "straße", Tokenizer::kBasic), "[STRASSE] [Straße]");
  CHECK_EQ(marked("He was running, she runs", "run", Tokenizer::kEnhanced), "He was [running], she [runs]");
  CHECK_EQ(marked("an organ of the organization", "organiza*", Tokenizer::kEnhanced), "an organ of the [organization]");
  CHECK_EQ(marked("a lamp", "lammp", Tokenizer::kBasic, {.fuzziness = true}), "a [lamp]");
  CHECK_EQ(marked("a lamp", "ship", Tokenizer::kBasic, {.synonyms = {{"ship", "lamp"}}}), "a [lamp]");
  CHECK_EQ(marked("我在北京大学。", "北京", Tokenizer::kMultilingual), "我在[北京]大学。");
  CHECK_EQ(marked("第3章 naïve", "naive 3", Tokenizer::kMultilingual), "第[3]章 [naïve]");
  CHECK_EQ(marked("", "lamp", Tokenizer::kBasic), "");
}

TEST("highlights: multilingual words end where the tokenizer ends them") {
  const auto words = [](const std::string& text, const std::string& query) {
    return marked(text, query, Tokenizer::kMultilingual);
  };
  CHECK_EQ(words("lamp\u00ADlight, lamp", "lamplight"), "[lamp\u00ADlight], lamp");
  CHECK_EQ(words("lamp\u00ADlight, lamp", "lamp"), "lamp\u00ADlight, [lamp]");
  CHECK_EQ(words("lamp\u200Blight", "light"), "lamp\u200B[light]");
  CHECK_EQ(words("\u200Elamp\u2060light\u200E.", "lamplight"), "\u200E[lamp\u2060light\u200E].");
  CHECK_EQ(words("cafe\u0301\u263Alamplight", "lamplight"), "cafe\u0301\u263A[lamplight]");
  CHECK_EQ(words("cafe\u0301\u263Alamplight", "caf\u00E9"), "[cafe\u0301]\u263Alamplight");
  CHECK_EQ(words("\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645", "\u062E\u0648\u0627\u0647\u0645"),
           "\u0645\u06CC\u200C[\u062E\u0648\u0627\u0647\u0645]");
  CHECK_EQ(words("facebook\u0E44\u0E17\u0E22", "facebook"), "[facebook]\u0E44\u0E17\u0E22");
  CHECK_EQ(words("\u5317\u4EAC\uD55C\uAD6D", "\uD55C\uAD6D"), "\u5317\u4EAC[\uD55C\uAD6D]");
}

TEST("highlights: positions count UTF-16 units") {
  const std::vector<std::string> texts = {"\xF0\x9F\x98\x80 lamp"};
  const auto index = index_of(texts, Tokenizer::kBasic);
  const TextIndex* const indexes[] = {index.get()};
  const Highlights found = Highlighter(indexes, "lamp", {}, nullptr).find(texts.front(), Shown::kAll);
  CHECK(found.matches == std::vector<Highlight>({{3, 7, 0}}));
  CHECK_EQ(found.begin, std::uint32_t{0});
  CHECK_EQ(found.end, std::uint32_t{7});
}

TEST("highlights: the best part of a text has the most clauses, then the most matches") {
  const std::string filling(300, '.');
  const auto best_of = [&](const std::string& text) {
    const auto index = index_of({text}, Tokenizer::kBasic);
    const TextIndex* const only = index.get();
    return Highlighter({&only, 1}, "sea lamp", {}, nullptr).find(text, Shown::kBestPart);
  };
  const Highlights clauses = best_of("sea sea sea " + filling + " sea lamp " + filling + " lamp");
  CHECK_EQ(clauses.matches.size(), std::size_t{2});
  CHECK_EQ(clauses.matches.front().begin, std::uint32_t{313});
  CHECK_EQ(clauses.begin, std::uint32_t{313 - kSnippetLeadIn});
  CHECK_EQ(clauses.end, std::uint32_t{313 - kSnippetLeadIn + kSnippetLength});
  const Highlights matches = best_of("sea " + filling + " sea sea " + filling);
  CHECK_EQ(matches.matches.size(), std::size_t{2});
  const Highlights none = best_of(filling);
  CHECK(none.matches.empty());
  CHECK_EQ(none.end, kSnippetLength);
}

/// Cancelled while it reads a text: the visitor of the first token cancels.
TEST("tokens: a cancelled reading of a long text ends before the text, in blanks and runs too") {
  constexpr std::size_t kPieces = 4;
  for (const Tokenizer tokenizer : {Tokenizer::kBasic, Tokenizer::kEnhanced, Tokenizer::kMultilingual}) {
    for (const char* const filling : {" ", "word ", "\u4e2d", "#"}) {
      std::string text = "first ";
      while (text.size() < kPieces * kTextBytesPerPoll) text += filling;
      CancelToken cancel;
      std::size_t seen = 0;
      const auto count = [&](std::string_view, TokenKind) {
        ++seen;
        cancel.cancel();
      };
      CHECK_FAILS(Code::kCancelled, for_each_token(text, tokenizer, count, &cancel));
      CHECK(seen <= 4 * static_cast<std::size_t>(kTextBytesPerPoll));
    }
  }
}

TEST("highlights: a long text can be cancelled, and a long run without spaces keeps its matches") {
  for (const Tokenizer tokenizer : {Tokenizer::kEnhanced, Tokenizer::kMultilingual}) {
    const auto index = index_of({"sea \u6d77\u9f9c"}, tokenizer);
    const TextIndex* const only = index.get();
    const Highlighter highlighter({&only, 1}, "sea \u6d77\u9f9c", {}, nullptr);
    std::string text = "sea ";
    for (std::size_t i = 0; i < 70'000; ++i) text += "\u5c71";
    text += " sea";
    const Highlights found = highlighter.find(text, Shown::kAll);
    CHECK_EQ(found.matches.size(), std::size_t{2});
    CHECK_EQ(found.matches.back().begin, std::uint32_t{4 + 70'000 + 1});
    CancelToken cancel;
    cancel.cancel();
    CHECK_FAILS(Code::kCancelled, highlighter.find(text, Shown::kAll, &cancel));
  }
}

}  // namespace
