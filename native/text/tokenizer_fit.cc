#include "text/tokenizer_fit.h"

#include <algorithm>

#include "core/values/utf8.h"
#include "text/multilingual_folding.h"

namespace lorekeep::text {
namespace {

// Devanagari to Sinhala: vowel signs are marks, at which the other tokenizers split words.
constexpr char32_t kFirstIndic = 0x0900, kLastIndic = 0x0DFF;

bool is_unsuited(std::string_view term) {
  const char* at = term.data();
  const char32_t first = decode_utf8(at, at + term.size());
  if (first >= kFirstIndic && first <= kLastIndic) return true;
  FoldedPart parts[multilingual::kMaxExpansion];
  if (fold_multilingual(first, parts) == 0) return false;
  return parts[0].kind == CodePointClass::kIdeograph || parts[0].kind == CodePointClass::kComplexBase;
}

}  // namespace

TokenizerFit tokenizer_fit(const TextIndex& index) {
  TokenizerFit fit;
  fit.empty_documents = static_cast<std::uint64_t>(std::ranges::count(index.data().lengths, 0u));
  for (const std::string_view term : index.sample_terms(kSampledTerms)) {
    ++fit.sampled_terms;
    fit.unsuited_terms += index.tokenizer() != Tokenizer::kMultilingual && is_unsuited(term);
  }
  return fit;
}

}  // namespace lorekeep::text
