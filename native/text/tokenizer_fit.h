// Whether a tokenizer suits the texts that were indexed with it.
#pragma once

#include <cstdint>

#include "text/text_index.h"

namespace lorekeep::text {

struct TokenizerFit {
  std::uint64_t empty_documents = 0;  // without a single token: lexical search never finds them
  std::uint64_t sampled_terms = 0;    // of the dictionary, at most kSampledTerms
  /// Sampled terms of scripts that put no spaces between words, or whose vowels are marks: such terms are whole clauses
  /// or fragments of words, unless the tokenizer is multilingual (then 0).
  std::uint64_t unsuited_terms = 0;
};

inline constexpr std::size_t kSampledTerms = 1024;

/// Throws nothing where load_sidecar() made the index: it has proven the sample.
TokenizerFit tokenizer_fit(const TextIndex& index);

}  // namespace lorekeep::text
