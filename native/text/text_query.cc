#include "text/text_query.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "text/block_max_search.h"
#include "text/query_weights.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

// Returns the distinct tokens of the query in order of first appearance.
std::vector<QueryTerm> analyse(std::string_view query, Tokenizer tokenizer) {
  std::vector<QueryTerm> terms;
  std::unordered_map<std::string, std::size_t> known;
  for (std::string& token : tokenize(query, tokenizer)) {
    const auto [at, added] = known.try_emplace(token, terms.size());
    if (added) {
      terms.push_back({std::move(token), 1});
    } else {
      ++terms[at->second].occurrences;
    }
  }
  return terms;
}

// Returns the terms that occur in the index, in the order in which bm25.h adds scores up.
std::vector<WeightedTerm> weigh(const TextIndex& index, std::vector<QueryTerm>& terms, const CancelToken* cancel) {
  std::vector<WeightedTerm> weighted;
  const auto weigh_one = [&](const QueryTerm& term, std::string_view text, float share) -> std::uint32_t {
    const auto entry = index.find(text, cancel);
    if (!entry) return 0;
    weighted.push_back({*entry, share * bm25_weight(index.documents(), entry->documents, term.occurrences)});
    return entry->documents;
  };
  for (QueryTerm& term : terms) {
    term.documents = weigh_one(term, term.text, 1.0f);
    if (index.tokenizer() != Tokenizer::kMultilingual) continue;
    for (const Variant& variant : variants_of(term.text, term.documents > 0)) {
      const std::uint32_t documents = weigh_one(term, variant.term, variant.share);
      term.documents = std::max(term.documents, documents);
    }
  }
  std::sort(weighted.begin(), weighted.end(), [](const WeightedTerm& a, const WeightedTerm& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.entry.term < b.entry.term;
  });
  return weighted;
}

// Returns how often the term occurs in a document of the block.
std::uint32_t frequency_in(const QueryTermPostings::Body& body, std::uint32_t local) noexcept {
  std::uint32_t found = 0;
  for_each_posting(body.data, body.size, [&](std::uint32_t at, std::uint32_t frequency) {
    if (at == local) found = frequency;
  });
  return found;
}

}  // namespace

TextQuery::TextQuery(const TextIndex& index, std::string_view query, const CancelToken* cancel)
    : index_(index), terms_(analyse(query, index.tokenizer())) {
  const std::vector<WeightedTerm> weighted = weigh(index, terms_, cancel);
  postings_.reserve(weighted.size());
  for (const WeightedTerm& term : weighted) {
    if (cancel != nullptr) cancel->check();
    postings_.emplace_back(term, index.data().blocks());
  }
}

double TextQuery::limit() const noexcept {
  double sum = 0;
  for (const QueryTerm& term : terms_) sum += bm25_weight(index_.documents(), term.documents, term.occurrences);
  return sum;
}

double TextQuery::work(std::size_t k) const noexcept {
  constexpr double kAnySearch = 200;  // all in directory rows
  constexpr double kTerm = 20;
  constexpr double kBlockOfIndex = 0.5;
  double rows = kAnySearch + kBlockOfIndex * index_.data().blocks();
  for (const QueryTermPostings& term : postings_) rows += kTerm + term.rows();
  return rows * (1 + std::sqrt(static_cast<double>(k)));
}

std::vector<Scored> TextQuery::search(const TextSearchOptions& options, TextSearchPlan& plan) const {
  const IndexData& data = index_.data();
  if (options.filter != nullptr && options.filter->size() != data.documents) {
    fail(Code::kInvalidArgument, "filter: it covers " + std::to_string(options.filter->size()) +
                                     " documents, the text index holds " + std::to_string(data.documents));
  }
  plan = {.blocks = data.blocks()};
  const std::size_t k = std::min<std::size_t>(options.k, data.documents);
  if (k == 0 || postings_.empty()) return {};
  BlockMaxSearch search(data, postings_, k, options.filter, options.cancel);
  std::vector<Scored> hits = search.run();
  plan.blocks_scored = search.blocks_scored();
  plan.documents_scored = search.documents_scored();
  return hits;
}

void TextQuery::score(std::span<const std::uint32_t> ordinals, std::span<float> scores) const noexcept {
  const IndexData& data = index_.data();
  const Bm25Norm norm = data.norm();
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    const std::uint32_t local = ordinals[i] % kBlockDocuments;
    float score = 0.0f;
    for (const QueryTermPostings& term : postings_) {
      const std::uint32_t frequency = frequency_in(term.find(ordinals[i] / kBlockDocuments), local);
      if (frequency > 0) score += term.weight() * norm.fraction(frequency, data.lengths[ordinals[i]]);
    }
    scores[i] = score;
  }
}

}  // namespace lorekeep::text
