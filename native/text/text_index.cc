#include "text/text_index.h"

#include <algorithm>
#include <unordered_map>

#include "text/block_max_search.h"
#include "text/query_weights.h"

namespace lorekeep::text {
namespace {

// Distinct tokens of the query in order of first appearance.
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

}  // namespace

std::shared_ptr<const TextIndex> TextIndex::build(std::size_t documents, const TextOf& text_of,
                                                  const TextBuildOptions& options) {
  auto built = std::make_shared<const BuiltIndex>(build_index(documents, text_of, options));
  return std::make_shared<const TextIndex>(built->data, built);
}

std::shared_ptr<const TextIndex> TextIndex::build(std::span<const std::string_view> texts,
                                                  const TextBuildOptions& options) {
  return build(texts.size(), [texts](std::size_t document) { return texts[document]; }, options);
}

std::optional<TermEntry> TextIndex::find(std::string_view term, const CancelToken* cancel) const {
  const std::uint64_t bucket = data_.bucket(term);
  if (check_ != nullptr) check_->require_sound(bucket, cancel);
  return data_.find(term, bucket);
}

std::vector<std::string_view> TextIndex::sample_terms(std::size_t count, const CancelToken* cancel) const {
  std::vector<std::string_view> terms;
  for (std::uint64_t bucket = 0; bucket + 1 < data_.buckets.size() && terms.size() < count; ++bucket) {
    if (check_ != nullptr) check_->require_sound(bucket, cancel);
    const std::byte* at = data_.entries.data() + data_.buckets[bucket];
    const std::byte* const end = data_.entries.data() + data_.buckets[bucket + 1];
    while (at < end && terms.size() < count) terms.push_back(TermEntry::parse(at).term);
  }
  return terms;
}

// The terms that occur in the index, in the order in which bm25.h adds scores up.
std::vector<WeightedTerm> TextIndex::weigh(std::vector<QueryTerm>& terms, const CancelToken* cancel) const {
  std::vector<WeightedTerm> weighted;
  const auto weigh_one = [&](const QueryTerm& term, std::string_view text, float share) -> std::uint32_t {
    const auto entry = find(text, cancel);
    if (!entry) return 0;
    weighted.push_back({*entry, share * bm25_weight(data_.documents, entry->documents, term.occurrences)});
    return entry->documents;
  };
  for (QueryTerm& term : terms) {
    term.documents = weigh_one(term, term.text, 1.0f);
    if (data_.tokenizer != Tokenizer::kMultilingual) continue;
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

TextSearchResult TextIndex::search(std::string_view query, const TextSearchOptions& options) const {
  if (options.filter != nullptr && options.filter->size() != data_.documents) {
    fail(Code::kInvalidArgument, "filter: it covers " + std::to_string(options.filter->size()) +
                                     " documents, the text index holds " + std::to_string(data_.documents));
  }
  TextSearchResult result;
  result.terms = analyse(query, data_.tokenizer);
  result.plan.blocks = data_.blocks();
  const auto terms = weigh(result.terms, options.cancel);
  const std::size_t k = std::min<std::size_t>(options.k, data_.documents);
  if (k == 0 || terms.empty()) return result;
  BlockMaxSearch search(data_, terms, k, options.filter, options.cancel);
  result.hits = search.run();
  result.plan.blocks_scored = search.blocks_scored();
  result.plan.documents_scored = search.documents_scored();
  return result;
}

}  // namespace lorekeep::text
