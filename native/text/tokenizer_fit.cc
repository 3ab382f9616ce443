#include "text/tokenizer_fit.h"

#include <algorithm>

#include "text/multilingual_folding.h"
#include "text/utf8.h"

namespace lorekeep::text {
namespace {

// Devanagari to Sinhala: vowel signs are marks, which separate words for the other tokenizers.
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

TokenizerFit tokenizer_fit(const IndexData& data) {
  TokenizerFit fit;
  fit.empty_documents = static_cast<std::uint64_t>(std::ranges::count(data.lengths, 0u));
  const std::byte* at = data.entries.data();
  for (; fit.sampled_terms < std::min(data.terms, kSampledTerms); ++fit.sampled_terms) {
    const TermEntry entry = TermEntry::parse(at);
    fit.unsuited_terms += data.tokenizer != Tokenizer::kMultilingual && is_unsuited(entry.term);
  }
  return fit;
}

}  // namespace lorekeep::text
