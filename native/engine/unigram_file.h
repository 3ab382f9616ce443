// Reads the vocabulary of a SentencePiece unigram model from a GGUF file. Internal to native/engine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/gguf_file.h"
#include "engine/unigram.h"

namespace lorekeep::engine {

struct UnigramVocabulary {
  Unigram texts;
  std::vector<std::int32_t> before;  // special tokens before every text
  std::vector<std::int32_t> after;   // and after it
  std::uint32_t size;                // tokens
};

/// Returns null if the file has another kind of vocabulary. Nothing refers to the file afterwards. Precondition:
/// check_vocabulary() accepts the file. Throws Error(kModelInvalid).
std::unique_ptr<const UnigramVocabulary> read_unigram(const GgufFile& file);

}  // namespace lorekeep::engine
