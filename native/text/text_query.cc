#include "text/text_query.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/values/seeded_hash.h"
#include "text/block_max_search.h"
#include "text/query_weights.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

// Returns the distinct tokens of the query in order of first appearance.
std::vector<QueryTerm> analyse(std::string_view query, Tokenizer tokenizer) {
  std::vector<QueryTerm> terms;
  std::unordered_map<std::string, std::size_t, SeededHash> known;
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

struct PartTerm {
  WeightedTerm weighted;
  std::size_t part;
  std::size_t word;  // of the query; as many as it has: a compound
};

// Returns the terms that occur in each part, in the order in which bm25.h adds scores up.
std::vector<PartTerm> weigh(const TextCollection& collection, std::vector<QueryTerm>& terms,
                            std::vector<QueryTerm>& compounds, const CancelToken* cancel) {
  const auto& parts = collection.parts();
  std::vector<PartTerm> found;
  const auto weigh_one = [&](const QueryTerm& term, std::string_view text, float share,
                             std::size_t word) -> std::uint32_t {
    const std::size_t begin = found.size();
    std::uint32_t documents = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const auto entry = parts[part].index->find(text, cancel);
      if (!entry) continue;
      documents += TextCollection::documents_with(parts[part], *entry);
      found.push_back({{*entry, 0}, part, word});
    }
    if (documents == 0) found.resize(begin);
    const float weight = documents == 0 ? 0 : share * bm25_weight(collection.documents(), documents, term.occurrences);
    for (std::size_t i = begin; i < found.size(); ++i) found[i].weighted.weight = weight;
    return documents;
  };
  for (std::size_t word = 0; word < terms.size(); ++word) {
    QueryTerm& term = terms[word];
    term.documents = weigh_one(term, term.text, 1.0f, word);
    if (collection.tokenizer() != Tokenizer::kMultilingual) continue;
    for (const Variant& variant : variants_of(term.text, term.documents > 0)) {
      const std::uint32_t documents = weigh_one(term, variant.term, variant.share, word);
      term.documents = std::max(term.documents, documents);
    }
  }
  for (QueryTerm& compound : compounds) {
    compound.documents = weigh_one(compound, compound.text, kCompoundShare, terms.size());
  }
  std::sort(found.begin(), found.end(), [](const PartTerm& a, const PartTerm& b) {
    return a.weighted.weight != b.weighted.weight ? a.weighted.weight > b.weighted.weight
                                                  : a.weighted.entry.term < b.weighted.entry.term;
  });
  return found;
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
    : TextQuery(index.alone(), query, cancel) {}

TextQuery::TextQuery(const TextCollection& collection, std::string_view query, const CancelToken* cancel)
    : collection_(collection),
      terms_(analyse(query, collection.tokenizer())),
      postings_(collection.parts().size()),
      words_(collection.parts().size()) {
  for (auto& [text, occurrences] : compounds_of(query, collection.tokenizer())) {
    compounds_.push_back({std::move(text), occurrences});
  }
  const std::vector<PartTerm> found = weigh(collection, terms_, compounds_, cancel);
  if (postings_.size() == 1) postings_.front().reserve(found.size());
  for (const PartTerm& term : found) {
    if (cancel != nullptr) cancel->check();
    const CollectionPart& part = collection.parts()[term.part];
    postings_[term.part].emplace_back(term.weighted, part.index->data().blocks(), collection.bound_factor(part));
    words_[term.part].push_back(term.word);
  }
}

double TextQuery::limit() const noexcept {
  double sum = 0;
  for (const QueryTerm& term : terms_) sum += bm25_weight(collection_.documents(), term.documents, term.occurrences);
  for (const QueryTerm& compound : compounds_) {
    if (compound.documents == 0) continue;
    sum += kCompoundShare * bm25_weight(collection_.documents(), compound.documents, compound.occurrences);
  }
  return sum;
}

double TextQuery::work(std::size_t k) const noexcept {
  constexpr double kAnySearch = 200;  // all in directory rows
  constexpr double kTerm = 20;
  constexpr double kBlockOfIndex = 0.5;
  double rows = kAnySearch;
  for (std::size_t part = 0; part < postings_.size(); ++part) {
    rows += kBlockOfIndex * collection_.parts()[part].index->data().blocks();
    for (const QueryTermPostings& term : postings_[part]) rows += kTerm + term.rows();
  }
  return rows * (1 + std::sqrt(static_cast<double>(k)));
}

std::vector<Scored> TextQuery::search(const TextSearchOptions& options, TextSearchPlan& plan) const {
  const IndexData& data = collection_.parts().front().index->data();
  if (options.filter != nullptr && options.filter->size() != data.documents) {
    fail(Code::kInvalidArgument, "filter: it covers " + std::to_string(options.filter->size()) +
                                     " documents, the text index holds " + std::to_string(data.documents));
  }
  return search(options.k, {&options.filter, 1}, options.cancel, plan);
}

std::vector<Scored> TextQuery::search(std::size_t k, std::span<const Bitmap* const> filters, const CancelToken* cancel,
                                      TextSearchPlan& plan) const {
  plan = {};
  k = std::min<std::size_t>(k, collection_.documents());
  std::vector<SearchedIndex> indexes;
  for (std::size_t i = 0; i < postings_.size(); ++i) {
    const CollectionPart& part = collection_.parts()[i];
    const IndexData& data = part.index->data();
    plan.blocks += data.blocks();
    if (postings_[i].empty()) continue;
    indexes.push_back({data, postings_[i], filters[i] != nullptr ? filters[i] : part.live, part.first});
  }
  if (k == 0 || indexes.empty()) return {};
  BlockMaxSearch search(indexes, collection_.norm(), k, cancel);
  std::vector<Scored> found = search.run();
  plan.blocks_scored = search.blocks_scored();
  plan.documents_scored = search.documents_scored();
  return found;
}

void TextQuery::score(std::span<const std::uint32_t> ordinals, std::span<float> scores) const noexcept {
  const Bm25Norm norm = collection_.norm();
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    const std::size_t at = collection_.part_of(ordinals[i]);
    const CollectionPart& part = collection_.parts()[at];
    const std::uint32_t document = ordinals[i] - part.first;
    const std::uint32_t local = document % kBlockDocuments;
    float score = 0.0f;
    for (const QueryTermPostings& term : postings_[at]) {
      const std::uint32_t frequency = frequency_in(term.find(document / kBlockDocuments), local);
      if (frequency > 0) score += term.weight() * norm.fraction(frequency, part.index->data().lengths[document]);
    }
    scores[i] = score;
  }
}

bool TextQuery::all_words_in(std::uint32_t ordinal) const {
  const auto is_known = [](const QueryTerm& term) { return term.documents > 0; };
  if (terms_.empty() || !std::ranges::all_of(terms_, is_known)) return false;
  const std::size_t at = collection_.part_of(ordinal);
  const std::uint32_t document = ordinal - collection_.parts()[at].first;
  std::vector<bool> found(terms_.size() + 1);
  for (std::size_t i = 0; i < postings_[at].size(); ++i) {
    const QueryTermPostings::Body body = postings_[at][i].find(document / kBlockDocuments);
    if (frequency_in(body, document % kBlockDocuments) > 0) found[words_[at][i]] = true;
  }
  return std::find(found.begin(), found.end() - 1, false) == found.end() - 1;
}

}  // namespace lorekeep::text
