#include "text/tokenizer_fit.h"

#include <string>

#include "harness.h"
#include "sample_texts.h"
#include "text/text_index.h"

namespace lorekeep::text {
namespace {

TokenizerFit fit_of(const std::vector<std::string>& texts, Tokenizer tokenizer) {
  return tokenizer_fit(*TextIndex::build(test::views(texts), {.tokenizer = tokenizer}));
}

TEST("texts without a token are counted") {
  const auto fit = fit_of({"", "!?", "word", "🎉"}, Tokenizer::kBasic);
  CHECK_EQ(fit.empty_documents, 3u);
  CHECK_EQ(fit.sampled_terms, 1u);
  CHECK_EQ(fit.unsuited_terms, 0u);
}

TEST("words of scripts that a tokenizer takes apart wrongly are counted") {
  const std::vector<std::string> texts{"plain words", "北京大学", "ภาษาไทย", "हिन्दी"};
  const auto fit = fit_of(texts, Tokenizer::kBasic);
  CHECK(fit.sampled_terms > 4);
  CHECK_EQ(fit.unsuited_terms, fit.sampled_terms - 2);
  CHECK_EQ(fit_of(texts, Tokenizer::kMultilingual).unsuited_terms, 0u);
  CHECK_EQ(fit_of({"слово λόγος كتاب 한국 café"}, Tokenizer::kEnhanced).unsuited_terms, 0u);
}

TEST("an empty index, and one of more terms than are sampled") {
  CHECK_EQ(fit_of({}, Tokenizer::kBasic).sampled_terms, 0u);
  std::string text;
  for (std::size_t i = 0; i < kSampledTerms + 10; ++i) text += std::to_string(i) + " ";
  CHECK_EQ(fit_of({text}, Tokenizer::kBasic).sampled_terms, kSampledTerms);
}

}  // namespace
}  // namespace lorekeep::text
