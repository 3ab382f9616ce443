// The tokenizer of BERT: WordPiece over words that are normalised as Hugging Face's BertNormalizer and BertPreTokenizer
// do it. llama.cpp's differs: it keeps only the first part of a decomposed character, so Korean loses its vowels, and
// drops the vowel signs of Indic scripts. Internal to native/engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/seeded_hash.h"

namespace lorekeep::engine {

/// How texts are normalised.
struct BertOptions {
  bool lower_case = true;
  bool strip_accents = true;
};

/// Returns the words of a text. Ill-formed UTF-8 is dropped, as U+FFFD is.
std::vector<std::string> bert_words(std::string_view utf8, const BertOptions& options);

class WordPiece {
 public:
  /// Words of more characters are unknown, as in the reference.
  static constexpr std::size_t kMaxWordCharacters = 100;
  /// Begins the pieces of a GGUF vocabulary that begin a word: U+2581.
  static constexpr std::string_view kWordMark = "\xe2\x96\x81";

  /// `pieces`: spellings by token, in the form of GGUF files. They must outlive the object. `unknown`: the token of a
  /// word that the pieces do not spell.
  WordPiece(const std::vector<std::string_view>& pieces, std::int32_t unknown, const BertOptions& options);

  /// Returns the tokens without special ones. Time is proportional to the text's length. Polls `cancel` every 1,024
  /// characters. Stops after the word that brings more than `most` tokens.
  std::vector<std::int32_t> tokenize(std::string_view utf8, const CancelToken* cancel = nullptr,
                                     std::size_t most = std::numeric_limits<std::size_t>::max()) const;

 private:
  void append(std::string_view word, std::vector<std::int32_t>& tokens) const;

  BertOptions options_;
  std::int32_t unknown_;
  std::size_t longest_ = 0;                                               // bytes of a piece without its mark
  std::unordered_map<std::string_view, std::int32_t, SeededHash> first_;  // pieces that begin a word, without the mark
  std::unordered_map<std::string_view, std::int32_t, SeededHash> following_;  // the others
};

}  // namespace lorekeep::engine
