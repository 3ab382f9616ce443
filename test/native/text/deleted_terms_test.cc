#include "text/deleted_terms.h"

#include <map>
#include <set>
#include <string>

#include "harness.h"
#include "sample_texts.h"
#include "text/term_counter.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

using Counts = std::map<std::string, std::uint32_t>;

/// In how many of the documents each term occurs, counted by the texts.
Counts naive_counts(const std::set<std::uint32_t>& documents, const TextOf& text_of) {
  Counts counts;
  for (const std::uint32_t document : documents) {
    std::set<std::string> terms;
    for_each_token(text_of(document), Tokenizer::kBasic,
                   [&](std::string_view token, TokenKind) { terms.emplace(token); });
    for (const std::string& term : terms) ++counts[term];
  }
  return counts;
}

Counts counts_of(const DeletedTerms& deleted, const TextIndex& index) {
  Counts counts;
  for (const std::string_view term : index.sample_terms(static_cast<std::size_t>(index.terms()))) {
    if (const std::uint32_t count = deleted.documents_with(*index.find(term))) counts[std::string(term)] = count;
  }
  return counts;
}

TEST("the counts are those of the removed texts, whether few or many go at a time") {
  test::Random random(test::seed());
  for (const std::size_t count : {1, 63, 300}) {
    const auto texts = test::random_texts(random, count, 40, 300);
    const auto index = TextIndex::build(test::views(texts), {});
    const TextOf text_of = [&](std::size_t document) -> std::string_view { return texts[document]; };
    std::shared_ptr<const DeletedTerms> deleted;
    std::set<std::uint32_t> gone;
    while (gone.size() < count) {
      std::set<std::uint32_t> more;
      const std::size_t most = test::below(random, 2) == 0 ? 1 : 1 + test::below(random, count);
      for (std::size_t i = 0; i < most; ++i) {
        const auto document = static_cast<std::uint32_t>(test::below(random, count));
        if (!gone.contains(document)) more.insert(document);
      }
      gone.insert(more.begin(), more.end());
      const std::vector<std::uint32_t> list(more.begin(), more.end());
      deleted = DeletedTerms::with(deleted.get(), *index, list, text_of);
      CHECK(counts_of(*deleted, *index) == naive_counts(gone, text_of));
    }
    CHECK_EQ(deleted->tokens(), index->tokens());
  }
}

}  // namespace
}  // namespace lorekeep::text
