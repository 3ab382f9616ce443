#include "text/text_index.h"

#include <algorithm>
#include <unordered_map>

#include "text/block_max_search.h"

namespace lorekeep::text {
namespace {

// Distinct tokens of the query in order of first appearance.
std::vector<QueryTerm> analyse(std::string_view query, Tokenizer tokenizer) {
  std::vector<QueryTerm> terms;
  std::unordered_map<std::string, std::size_t> known;
  TokenStream tokens(query, tokenizer);
  for (std::string_view token; tokens.next(token);) {
    const auto [at, added] = known.try_emplace(std::string(token), terms.size());
    if (added) {
      terms.push_back({std::string(token), 1});
    } else {
      ++terms[at->second].occurrences;
    }
  }
  return terms;
}

// The terms that occur in the index, in the order in which bm25.h adds scores up.
std::vector<WeightedTerm> weigh(const IndexData& data, std::vector<QueryTerm>& terms) {
  std::vector<WeightedTerm> weighted;
  for (QueryTerm& term : terms) {
    const auto entry = data.find(term.text);
    if (!entry) continue;
    term.documents = entry->documents;
    weighted.push_back({*entry, bm25_weight(data.documents, entry->documents, term.occurrences)});
  }
  std::sort(weighted.begin(), weighted.end(), [](const WeightedTerm& a, const WeightedTerm& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.entry.term < b.entry.term;
  });
  return weighted;
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

TextSearchResult TextIndex::search(std::string_view query, const TextSearchOptions& options) const {
  if (options.filter != nullptr && options.filter->size() != data_.documents) {
    fail(Code::kInvalidArgument, "filter: it covers " + std::to_string(options.filter->size()) +
                                     " documents, the text index holds " + std::to_string(data_.documents));
  }
  TextSearchResult result;
  result.terms = analyse(query, data_.tokenizer);
  result.plan.blocks = data_.blocks();
  const auto terms = weigh(data_, result.terms);
  const std::size_t k = std::min<std::size_t>(options.k, data_.documents);
  if (k == 0 || terms.empty()) return result;
  BlockMaxSearch search(data_, terms, k, options.filter, options.cancel);
  result.hits = search.run();
  result.plan.blocks_scored = search.blocks_scored();
  result.plan.documents_scored = search.documents_scored();
  return result;
}

}  // namespace lorekeep::text
