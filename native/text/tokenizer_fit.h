// Whether a tokenizer suits the texts that were indexed with it.
#pragma once

#include <cstdint>

#include "text/index_data.h"

namespace lorekeep::text {

struct TokenizerFit {
  std::uint64_t empty_documents = 0;  // without a single token: lexical search never finds them
  std::uint64_t sampled_terms = 0;    // of the dictionary, at most kSampledTerms
  /// Sampled terms of scripts that put no spaces between words, or whose vowels are marks: such terms are whole clauses
  /// or fragments of words, unless the tokenizer is multilingual (then 0).
  std::uint64_t unsuited_terms = 0;
};

/// The dictionary is in order of hashes, so its first terms are a fair sample.
inline constexpr std::uint64_t kSampledTerms = 4096;

TokenizerFit tokenizer_fit(const IndexData& data);

}  // namespace lorekeep::text
