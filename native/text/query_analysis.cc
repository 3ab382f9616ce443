#include "text/query_analysis.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/threads/step_watch.h"
#include "core/values/error.h"
#include "core/values/seeded_hash.h"
#include "text/english.h"
#include "text/query_weights.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

// A correction counts less than the word as typed; more if no document has that.
constexpr float kCorrectionOfRare = 0.3f;
constexpr float kCorrectionOfUnknown = 0.6f;

/// Letters that stripping leaves at least.
constexpr std::size_t kMinStem = 2;

std::size_t letters(std::string_view word) noexcept {
  return static_cast<std::size_t>(std::count_if(
      word.begin(), word.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

/// A year, a version or a part number one edit away is another one.
bool has_digit(std::string_view word) noexcept {
  return std::any_of(word.begin(), word.end(), [](char byte) { return byte >= '0' && byte <= '9'; });
}

class Analysis {
 public:
  Analysis(std::span<const TextCollection* const> searched, const QueryOptions& options, const CancelToken* cancel)
      : searched_(searched), tokenizer_(searched.front()->tokenizer()), options_(options), cancel_(cancel) {
    for (const std::string& text : options.stopwords) {
      for (std::string& token : tokens(text)) stopwords_.insert(std::move(token));
    }
    for (const auto& group : options.synonyms) {
      if (cancel != nullptr) cancel->check();
      add_synonyms(group);
    }
  }

  std::vector<QueryClause> run(std::string_view query) {
    if (!options_.syntax) {
      add_words(query, Clause::Sign::kNone);
    } else {
      add_clauses(query);
    }
    add_compounds();
    return std::move(clauses_);
  }

 private:
  std::vector<std::string> tokens(std::string_view text) const { return tokenize(text, tokenizer_); }

  void add_synonyms(const std::vector<std::string>& group) {
    std::vector<std::string> words;
    for (const std::string& text : group) {
      std::vector<std::string> found = tokens(text);
      if (found.size() != 1) {
        const std::string reason = "\"" + text + "\" is " + std::to_string(found.size()) +
                                   " words to the tokenizer, but a synonym is one word";
        fail(Code::kInvalidArgument, "lexical.synonyms: " + reason,
             {{"field", "lexical.synonyms"}, {"reason", reason}});
      }
      words.push_back(std::move(found.front()));
    }
    for (const std::string& word : words) {
      std::vector<std::size_t>& groups = groups_of_[word];
      if (groups.empty() || groups.back() != groups_.size()) groups.push_back(groups_.size());
    }
    groups_.push_back(std::move(words));
  }

  /// Appends the other words of the word's groups, each once.
  void append_synonyms(const std::string& word, std::vector<std::string>& terms) const {
    const auto found = groups_of_.find(word);
    if (found == groups_of_.end()) return;
    std::unordered_set<std::string_view, SeededHash> known{word};
    for (const std::size_t group : found->second) {
      for (const std::string& other : groups_[group]) {
        if (known.insert(other).second) terms.push_back(other);
      }
    }
  }

  /// Adds the clauses of a query with operators. One that repeats counts as often as it occurs, as a word does.
  void add_clauses(std::string_view query) {
    struct Added {
      std::size_t begin;
      std::size_t end;
    };
    std::map<Clause, Added> known;
    for (const Clause& clause : parse_clauses(query)) {
      if (cancel_ != nullptr) cancel_->check();
      if (const auto before = known.find(clause); before != known.end()) {
        for (std::size_t i = before->second.begin; i < before->second.end; ++i) ++clauses_[i].occurrences;
        continue;
      }
      const std::size_t begin = clauses_.size();
      add(clause);
      const bool words = clause.sign == Clause::Sign::kNone && !clause.phrase && !clause.prefix;
      if (!words) known.emplace(clause, Added{begin, clauses_.size()});
    }
  }

  void add(const Clause& clause) {
    if (clause.phrase) return add_phrase(clause);
    if (clause.prefix) return add_prefix(clause);
    if (clause.sign == Clause::Sign::kNone) return add_words(clause.text, clause.sign);
    std::vector<std::string> found = tokens(clause.text);
    if (found.size() > 1) return add_phrase(clause);  // +well-known
    for (const std::string& word : found) clauses_.push_back(word_clause(word, clause.sign));
  }

  /// Adds a clause per distinct token.
  void add_words(std::string_view text, Clause::Sign sign) {
    for (const std::string& word : tokens(text)) {
      if (stopwords_.contains(word)) continue;
      const auto [at, added] = optional_.try_emplace(word, clauses_.size());
      if (added) {
        clauses_.push_back(word_clause(word, sign));
      } else {
        ++clauses_[at->second].occurrences;
      }
    }
    words_.append(text).append(" ");
  }

  /// Adds a clause per compound of the optional words that is not one of them.
  void add_compounds() {
    for (auto& [compound, occurrences] : compounds_of(words_, tokenizer_)) {
      if (stopwords_.contains(compound)) continue;
      QueryClause clause{.occurrences = occurrences, .compound = true};
      clause.unions.push_back({{std::move(compound)}, kCompoundShare, false});
      clauses_.push_back(std::move(clause));
    }
  }

  void add_phrase(const Clause& clause) {
    QueryClause phrase;
    phrase.sign = clause.sign == Clause::Sign::kNone ? Clause::Sign::kRequired : clause.sign;
    phrase.phrase = tokens(clause.text);
    if (phrase.phrase.empty()) return;
    std::unordered_set<std::string_view, SeededHash> known;
    for (const std::string& word : phrase.phrase) {
      if (known.insert(word).second) phrase.unions.push_back({{word}});
    }
    if (phrase.phrase.size() == 1) phrase.phrase.clear();
    clauses_.push_back(std::move(phrase));
  }

  void add_prefix(const Clause& clause) {
    // Suffixes are stripped from the index's terms, not from a prefix; the word itself and its other forms match too.
    std::vector<std::string> words =
        tokenizer_ == Tokenizer::kEnhanced ? tokenize(clause.text, Tokenizer::kBasic) : tokens(clause.text);
    if (words.empty()) return;
    const std::string prefix = std::move(words.back());
    words.pop_back();
    QueryClause found{.sign = clause.sign};
    std::set<std::string> known;
    for (const std::string& word : words) {
      for (std::string& token : tokens(word)) {
        if (clause.sign == Clause::Sign::kNone) {
          clauses_.push_back(word_clause(token, clause.sign));
          continue;
        }
        if (known.insert(token).second) found.unions.push_back({{token}});
        found.phrase.push_back(std::move(token));
      }
    }
    if (!found.phrase.empty()) {  // +well-known*
      found.phrase.push_back(prefix);
      found.open = true;
    }
    found.unions.push_back(prefix_union(prefix));
    clauses_.push_back(std::move(found));
  }

  /// Returns the words that begin so, and the prefix itself.
  TermUnion prefix_union(const std::string& prefix) const {
    TermUnion all;
    std::vector<std::string_view> starting;
    for (const TextCollection* const texts : searched_) {
      const auto found_here = texts->starting_with(prefix, cancel_);
      starting.insert(starting.end(), found_here.begin(), found_here.end());
    }
    std::sort(starting.begin(), starting.end());
    starting.erase(std::unique(starting.begin(), starting.end()), starting.end());
    all.terms.assign(starting.begin(), starting.end());
    for (std::string& token : tokens(prefix)) {
      if (!token.starts_with(prefix)) all.terms.push_back(std::move(token));
    }
    if (tokenizer_ == Tokenizer::kEnhanced) add_stems(prefix, all);
    if (all.terms.empty()) all.terms.push_back(prefix);
    return all;
  }

  /// Adds the stems of words that begin with the prefix if stripping reached into it: the prefix without its end, whose
  /// last letter may have changed.
  void add_stems(const std::string& prefix, TermUnion& all) const {
    all.beginning = prefix;
    for (std::size_t size = kMinStem; size < prefix.size(); ++size) {
      if (!may_begin_english_suffix(std::string_view(prefix).substr(size))) continue;
      for (const std::string_view end : {"", "i", "y"}) {
        std::string stem = prefix.substr(0, size).append(end);
        if (stem.starts_with(prefix) || documents_with(stem) == 0) continue;
        if (std::find(all.terms.begin(), all.terms.end(), stem) == all.terms.end())
          all.stems.push_back(std::move(stem));
      }
    }
  }

  QueryClause word_clause(const std::string& word, Clause::Sign sign) {
    QueryClause clause{.sign = sign};
    TermUnion& own = clause.unions.emplace_back();
    own.terms.push_back(word);
    if (sign == Clause::Sign::kExcluded) return clause;
    append_synonyms(word, own.terms);
    const std::uint32_t documents = documents_with(word);
    if (tokenizer_ == Tokenizer::kMultilingual) {
      for (Variant& variant : variants_of(word, documents > 0)) {
        clause.unions.push_back({{std::move(variant.term)}, variant.share, false});
      }
    }
    if (options_.fuzziness) add_corrections(word, documents, clause);
    return clause;
  }

  void add_corrections(const std::string& word, std::uint32_t documents, QueryClause& clause) {
    if (letters(word) < kMinFuzzyLetters || has_digit(word)) return;
    if (documents > searched_.front()->documents() / kRareShare) return;
    std::set<std::string_view> near;
    for (const TextCollection* const texts : searched_) {
      const auto near_here = texts->one_edit_from(word, cancel_);
      near.insert(near_here.begin(), near_here.end());
    }
    std::vector<std::pair<std::uint32_t, std::string_view>> found;
    for (const std::string_view term : near) found.emplace_back(documents_with(term), term);
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    found.resize(std::min(found.size(), kMaxCorrections));
    if (found.empty()) return;
    TermUnion& corrections = clause.unions.emplace_back();
    corrections.share = documents > 0 ? kCorrectionOfRare : kCorrectionOfUnknown;
    for (const auto& [count, term] : found) corrections.terms.emplace_back(term);
  }

  std::uint32_t documents_with(std::string_view term) const {
    std::uint32_t most = 0;
    for (const TextCollection* const texts : searched_) most = std::max(most, texts->documents_with(term, cancel_));
    return most;
  }

  std::span<const TextCollection* const> searched_;
  Tokenizer tokenizer_;
  const QueryOptions& options_;
  const CancelToken* cancel_;
  std::unordered_set<std::string, SeededHash> stopwords_;
  std::vector<std::vector<std::string>> groups_;  // of synonyms
  std::unordered_map<std::string, std::vector<std::size_t>, SeededHash> groups_of_;
  std::unordered_map<std::string, std::size_t, SeededHash> optional_;  // word -> its clause
  std::string words_;                                                  // texts of the optional words
  std::vector<QueryClause> clauses_;
};

}  // namespace

std::vector<QueryClause> analyse_query(std::span<const TextCollection* const> searched, std::string_view query,
                                       const QueryOptions& options, const CancelToken* cancel) {
  const CheckedPart checked;  // corrections read all terms for each word
  return Analysis(searched, options, cancel).run(query);
}

}  // namespace lorekeep::text
