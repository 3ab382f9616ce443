#include "naive_extended.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/values/utf8.h"
#include "text/bm25.h"

namespace lorekeep::text::test {
namespace {

using Tokens = std::vector<std::string>;

std::u32string decoded(std::string_view word) {
  std::u32string out;
  const char* at = word.data();
  for (const char* const end = at + word.size(); at < end;) out.push_back(decode_utf8(at, end));
  return out;
}

struct NaiveUnion {
  std::set<std::string> terms;
  double share;
  std::string beginning = {};  // words that begin so count, whatever their stem
};

struct NaiveClause {
  Clause::Sign sign;
  std::vector<NaiveUnion> unions;
  Tokens phrase;
  bool open = false;  // a word of the last union must follow the phrase
};

class Naive {
 public:
  Naive(std::span<const NaiveTexts> texts, Tokenizer tokenizer, const QueryOptions& options)
      : texts_(texts), tokenizer_(tokenizer), options_(options) {
    for (const NaiveTexts& text : texts) {
      std::vector<Tokens>& all = tokens_.emplace_back();
      for (const std::string& one : text.texts) {
        all.push_back(tokenize(one, tokenizer));
        for (const std::string& token : all.back()) vocabulary_.insert(token);
        auto& words = words_.emplace_back();
        for (const std::string& word : tokenize(one, Tokenizer::kBasic)) {
          const Tokens stem = tokenize(word, tokenizer);
          if (!stem.empty()) words.emplace_back(word, stem.front());
        }
      }
    }
    for (const std::string& word : options.stopwords) {
      for (const std::string& token : tokenize(word, tokenizer)) stopwords_.insert(token);
    }
  }

  std::map<std::size_t, double> run(std::string_view query) {
    read(query);
    std::map<std::size_t, double> found;
    for (std::size_t document = 0; document < texts_.front().texts.size(); ++document) {
      double score = 0;
      bool allowed = true;
      for (const NaiveClause& clause : clauses_) {
        const bool here = matches(clause, document);
        if (clause.sign == Clause::Sign::kRequired && !here) allowed = false;
        if (clause.sign == Clause::Sign::kExcluded && here) allowed = false;
        if (clause.sign != Clause::Sign::kExcluded) score += score_of(clause, document);
      }
      if (allowed && score > 0) found[document] = score;
    }
    return found;
  }

 private:
  /// Returns how many words of a document the union counts.
  std::size_t occurrences(const NaiveUnion& any, std::size_t text, std::size_t document) const {
    const auto has = [&](const std::string& token) { return any.terms.contains(token); };
    if (any.beginning.empty()) {
      const Tokens& tokens = tokens_[text][document];
      return static_cast<std::size_t>(std::count_if(tokens.begin(), tokens.end(), has));
    }
    std::size_t count = 0;
    for (const auto& [word, stem] : words_[text * texts_.front().texts.size() + document]) {
      count += has(stem) || word.substr(0, any.beginning.size()) == any.beginning ? 1 : 0;
    }
    return count;
  }

  std::size_t documents_with(const NaiveUnion& any, std::size_t text) const {
    std::size_t count = 0;
    for (std::size_t document = 0; document < tokens_[text].size(); ++document) {
      count += occurrences(any, text, document) > 0 ? 1 : 0;
    }
    return count;
  }

  std::size_t most_documents_with(const std::string& term) const {
    std::size_t most = 0;
    for (std::size_t text = 0; text < tokens_.size(); ++text) most = std::max(most, documents_with({{term}, 1}, text));
    return most;
  }

  void read(std::string_view query) {
    std::vector<Clause> clauses;
    if (options_.syntax) {
      clauses = parse_clauses(query);
    } else {
      clauses.push_back({.text = std::string(query)});
    }
    for (const Clause& clause : clauses) {
      if (clause.prefix && !clause.phrase) {
        read_prefix(clause);
        continue;
      }
      const Tokens tokens = tokenize(clause.text, tokenizer_);
      const bool together = clause.phrase || (clause.sign != Clause::Sign::kNone && tokens.size() > 1);
      if (together) {
        if (tokens.empty()) continue;
        NaiveClause phrase{
            clause.phrase && clause.sign == Clause::Sign::kNone ? Clause::Sign::kRequired : clause.sign, {}, tokens};
        for (const std::string& token : std::set<std::string>(tokens.begin(), tokens.end()))
          phrase.unions.push_back({{token}, 1});
        clauses_.push_back(phrase);
        continue;
      }
      for (const std::string& token : tokens) {
        if (clause.sign == Clause::Sign::kNone && stopwords_.contains(token)) continue;
        clauses_.push_back(word(token, clause.sign));
      }
    }
  }

  void read_prefix(const Clause& clause) {
    Tokens words = tokenize(clause.text, tokenizer_ == Tokenizer::kEnhanced ? Tokenizer::kBasic : tokenizer_);
    if (words.empty()) return;
    Tokens before;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      for (const std::string& token : tokenize(words[i], tokenizer_)) before.push_back(token);
    }
    if (clause.sign == Clause::Sign::kNone) {
      for (const std::string& token : before) clauses_.push_back(word(token, clause.sign));
      before.clear();
    }
    std::set<std::string> terms;
    for (const std::string& term : vocabulary_) {
      if (term.substr(0, words.back().size()) == words.back()) terms.insert(term);
    }
    for (const std::string& token : tokenize(words.back(), tokenizer_)) terms.insert(token);
    const bool stems = tokenizer_ == Tokenizer::kEnhanced;
    NaiveClause found{clause.sign, {}, before};
    for (const std::string& token : std::set<std::string>(before.begin(), before.end()))
      found.unions.push_back({{token}, 1});
    found.unions.push_back({terms, 1, stems ? words.back() : ""});
    found.open = !before.empty();
    clauses_.push_back(found);
  }

  NaiveClause word(const std::string& token, Clause::Sign sign) const {
    NaiveClause clause{sign, {{{token}, 1}}, {}};
    if (sign == Clause::Sign::kExcluded) return clause;
    for (const auto& group : options_.synonyms) {
      std::set<std::string> all;
      for (const std::string& other : group) all.insert(tokenize(other, tokenizer_).front());
      if (all.contains(token)) clause.unions.front().terms.insert(all.begin(), all.end());
    }
    const std::size_t documents = most_documents_with(token);
    const bool rare =
        documents * kRareShare <= texts_.front().texts.size() && token.find_first_of("0123456789") == std::string::npos;
    if (!options_.fuzziness || decoded(token).size() < kMinFuzzyLetters || !rare) return clause;
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& term : vocabulary_) {
      if (naive_one_edit(decoded(token), decoded(term))) near.emplace_back(most_documents_with(term), term);
    }
    std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
      return a.first > b.first || (a.first == b.first && a.second < b.second);
    });
    std::set<std::string> corrections;
    for (std::size_t i = 0; i < std::min(near.size(), kMaxCorrections); ++i) corrections.insert(near[i].second);
    if (!corrections.empty()) clause.unions.push_back({corrections, documents > 0 ? 0.3 : 0.6});
    return clause;
  }

  bool matches_open(const NaiveClause& clause, std::size_t text, std::size_t document) const {
    const NaiveUnion& last = clause.unions.back();
    std::vector<std::pair<std::string, std::string>> words;
    if (last.beginning.empty()) {
      for (const std::string& token : tokens_[text][document]) words.emplace_back(token, token);
    } else {
      words = words_[text * texts_.front().texts.size() + document];
    }
    for (std::size_t at = 0; at + clause.phrase.size() < words.size(); ++at) {
      bool same = true;
      for (std::size_t i = 0; i < clause.phrase.size(); ++i) same = same && words[at + i].second == clause.phrase[i];
      const auto& [word, stem] = words[at + clause.phrase.size()];
      const bool begins = !last.beginning.empty() && word.substr(0, last.beginning.size()) == last.beginning;
      if (same && (begins || last.terms.contains(stem))) return true;
    }
    return false;
  }

  bool matches(const NaiveClause& clause, std::size_t document) const {
    for (std::size_t text = 0; text < tokens_.size(); ++text) {
      const Tokens& tokens = tokens_[text][document];
      if (clause.open) {
        if (matches_open(clause, text, document)) return true;
        continue;
      }
      if (!clause.phrase.empty()) {
        if (std::search(tokens.begin(), tokens.end(), clause.phrase.begin(), clause.phrase.end()) != tokens.end())
          return true;
        continue;
      }
      for (const NaiveUnion& any : clause.unions) {
        if (occurrences(any, text, document) > 0) return true;
      }
    }
    return false;
  }

  double score_of(const NaiveClause& clause, std::size_t document) const {
    double score = 0;
    for (std::size_t text = 0; text < tokens_.size(); ++text) {
      const double count = static_cast<double>(tokens_[text].size());
      double all = 0;
      for (const Tokens& tokens : tokens_[text]) all += static_cast<double>(tokens.size());
      const Tokens& own = tokens_[text][document];
      for (const NaiveUnion& any : clause.unions) {
        const auto tf = static_cast<double>(occurrences(any, text, document));
        if (tf == 0) continue;
        const auto n = static_cast<double>(documents_with(any, text));
        const double idf = std::log(1 + (count - n + 0.5) / (n + 0.5));
        const double norm = 1.2 * (1 - 0.75 + 0.75 * static_cast<double>(own.size()) * count / all);
        score += texts_[text].boost * any.share * idf * 2.2 * tf / (tf + norm);
      }
    }
    return score;
  }

  std::span<const NaiveTexts> texts_;
  Tokenizer tokenizer_;
  const QueryOptions& options_;
  std::vector<std::vector<Tokens>> tokens_;  // by text, by document
  /// Of all documents of all texts: words with their suffix, and without; no stopwords.
  std::vector<std::vector<std::pair<std::string, std::string>>> words_;
  std::set<std::string> vocabulary_;
  std::set<std::string> stopwords_;
  std::vector<NaiveClause> clauses_;
};

}  // namespace

std::map<std::size_t, double> naive_extended(std::span<const NaiveTexts> texts, Tokenizer tokenizer,
                                             std::string_view query, const QueryOptions& options) {
  return Naive(texts, tokenizer, options).run(query);
}

bool naive_one_edit(std::u32string_view a, std::u32string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      table[i][j] =
          std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()] == 1;
}

}  // namespace lorekeep::text::test
