#include "naive_bm25.h"

#include <algorithm>
#include <cmath>

#include "text/bm25.h"
#include "text/query_weights.h"

namespace lorekeep::text {
namespace {

using Counts = std::map<std::string, std::uint32_t>;

Counts count_words(std::string_view text, Tokenizer tokenizer) {
  Counts counts;
  for (const std::string& token : tokenize(text, tokenizer)) ++counts[token];
  return counts;
}

// Includes the extra tokens.
Counts count_tokens(std::string_view text, Tokenizer tokenizer) {
  Counts counts;
  for_each_token(text, tokenizer, [&](std::string_view token, TokenKind) { ++counts[std::string(token)]; });
  return counts;
}

}  // namespace

NaiveBm25::NaiveBm25(std::span<const std::string_view> texts, Tokenizer tokenizer) : tokenizer_(tokenizer) {
  for (const std::string_view text : texts) {
    documents_.push_back(count_tokens(text, tokenizer));
    lengths_.push_back(static_cast<std::uint32_t>(tokenize(text, tokenizer).size()));
    tokens_ += lengths_.back();
    for (const auto& [term, occurrences] : documents_.back()) ++documents_with_[term];
  }
}

std::vector<Scored> NaiveBm25::search(std::string_view query, std::size_t k, const Bitmap* filter) const {
  struct Term {
    std::string text;
    float weight;
  };
  std::vector<Term> terms;
  const auto add = [&](const std::string& term, std::uint32_t occurrences, float share) {
    const auto known = documents_with_.find(term);
    if (known == documents_with_.end()) return;
    terms.push_back({term, share * bm25_weight(documents_.size(), known->second, occurrences)});
  };
  for (const auto& [term, occurrences] : count_words(query, tokenizer_)) {
    add(term, occurrences, 1.0f);
    if (tokenizer_ != Tokenizer::kMultilingual) continue;
    for (const Variant& variant : variants_of(term, documents_with_.contains(term))) {
      add(variant.term, occurrences, variant.share);
    }
  }
  for (const auto& [compound, occurrences] : compounds_of(query, tokenizer_))
    add(compound, occurrences, kCompoundShare);
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.weight != b.weight ? a.weight > b.weight : a.text < b.text; });

  const Bm25Norm norm(documents_.size(), tokens_);
  std::vector<Scored> hits;
  for (std::uint32_t document = 0; document < documents_.size(); ++document) {
    if (filter != nullptr && !filter->test(document)) continue;
    float score = 0.0f;
    bool matches = false;
    for (const Term& term : terms) {
      const auto found = documents_[document].find(term.text);
      if (found == documents_[document].end()) continue;
      score += term.weight * norm.fraction(std::min(found->second, kMaxTermFrequency), lengths_[document]);
      matches = true;
    }
    if (matches) hits.push_back({score, document});
  }
  std::sort(hits.begin(), hits.end(), HighestFirst{});
  hits.resize(std::min(k, hits.size()));
  return hits;
}

double NaiveBm25::score(std::string_view query, std::size_t document) const {
  const double k1 = 1.2;
  const double b = 0.75;
  const double average = static_cast<double>(tokens_) / static_cast<double>(documents_.size());
  double total = 0;
  const auto add = [&](const std::string& term, double share) {
    const auto found = documents_[document].find(term);
    if (found == documents_[document].end()) return;
    const double tf = std::min(found->second, kMaxTermFrequency);
    const double n = documents_with_.at(term);
    const double idf = std::log(1 + (static_cast<double>(documents_.size()) - n + 0.5) / (n + 0.5));
    total += share * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths_[document] / average));
  };
  for (const std::string& token : tokenize(query, tokenizer_)) {
    add(token, 1);
    if (tokenizer_ != Tokenizer::kMultilingual) continue;
    for (const Variant& variant : variants_of(token, documents_with_.contains(token))) add(variant.term, variant.share);
  }
  for (const auto& [compound, occurrences] : compounds_of(query, tokenizer_))
    add(compound, kCompoundShare * occurrences);
  return total;
}

}  // namespace lorekeep::text
