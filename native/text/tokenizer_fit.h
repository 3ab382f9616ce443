// Statistics that show whether a tokenizer suits the indexed texts.
#pragma once

#include <cstdint>

#include "text/text_index.h"

namespace lorekeep::text {

struct TokenizerFit {
  std::uint64_t empty_documents = 0;  // without tokens: lexical search never finds them
  std::uint64_t sampled_terms = 0;    // of the dictionary, at most kSampledTerms
  /// Sampled terms in scripts that put no spaces between words, or whose vowels are marks. Such terms are whole clauses
  /// or fragments of words. Always 0 for the multilingual tokenizer.
  std::uint64_t unsuited_terms = 0;
};

inline constexpr std::size_t kSampledTerms = 1024;

/// Does not throw for an index from load_sidecar(), which has checked the sample.
TokenizerFit tokenizer_fit(const TextIndex& index);

}  // namespace lorekeep::text
