#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "engine/unigram_file.h"
#include "engine/word_piece.h"
#include "llama.h"

namespace lorekeep::engine {

/// Returns the tokens of a text. Ill-formed UTF-8 is read as U+FFFD. `around`: with the special tokens around every
/// text. `control`: whether spellings of control tokens become control tokens. Throws Error(kModelInvalid) if the
/// vocabulary cannot spell the text.
std::vector<llama_token> tokenize(const llama_vocab& vocabulary, std::string_view text, bool around, bool control);

inline constexpr std::size_t kAllTokens = std::numeric_limits<std::size_t>::max();

/// The tokens of texts of any length, without special tokens around them. Refers to the model. Thread-safe.
class TextTokenizer {
 public:
  explicit TextTokenizer(const llama_model& model);

  /// Returns the tokens of a text. `control`: whether spellings of control tokens become control tokens. Ill-formed
  /// UTF-8 is read as U+FFFD. A text of more than kPieceBytes is cut, before a blank between two letters where there is
  /// one: llama.cpp takes time in proportion to the square of a length. Polls `cancel` before each piece, some 20 ms at
  /// most. Stops soon after more than `most` tokens. Throws Error(kModelInvalid) if the vocabulary cannot spell the
  /// text, and as CancelToken::check().
  std::vector<llama_token> tokenize(std::string_view text, bool control, const CancelToken* cancel = nullptr,
                                    std::size_t most = kAllTokens) const;
  static constexpr std::size_t kPieceBytes = std::size_t{8} << 10;

  /// Whether the model has BERT's vocabulary, whose tokens are not llama.cpp's.
  bool is_word_piece() const noexcept { return word_piece_.has_value(); }

 private:
  const llama_vocab* vocabulary_;
  bool adds_blank_ = false;  // at the beginning of each text
  std::optional<WordPiece> word_piece_;
};

/// The tokenizer of a model. Internal to native/engine. Thread-safe.
class Vocabulary {
 public:
  /// Refers to the model. Throws Error(kModelInvalid) if the special tokens that every text gets are missing.
  explicit Vocabulary(const llama_model& model);
  /// Needs no model of llama.cpp, whose trie takes a second to load.
  explicit Vocabulary(std::unique_ptr<const UnigramVocabulary> unigram);

  /// Returns token ids, special tokens included. Spellings of special tokens in the text are read as plain text, and
  /// ill-formed UTF-8 as U+FFFD. `cancel`, `most` and errors as of TextTokenizer::tokenize().
  std::vector<llama_token> tokenize(std::string_view text, const CancelToken* cancel = nullptr,
                                    std::size_t most = kAllTokens) const;

  /// Truncates a text to `limit` tokens, keeping the special tokens at its end. Preconditions: `tokens` come from
  /// tokenize(), limit > special_tokens().
  std::vector<llama_token> first_window(std::vector<llama_token> tokens, std::size_t limit) const;

  /// The tokens of an empty text: the special tokens around every text.
  const std::vector<llama_token>& nothing() const noexcept { return around_nothing_; }

  /// Number of tokens; every id is less.
  std::uint32_t size() const noexcept { return size_; }

  /// Whether it refers to a model of llama.cpp.
  bool needs_model() const noexcept { return unigram_ == nullptr; }

  /// Number of special tokens that every text gets.
  std::uint32_t special_tokens() const noexcept { return special_tokens_; }

 private:
  std::vector<llama_token> inner_tokens(std::string_view text, const CancelToken* cancel, std::size_t most) const;

  const llama_vocab* vocabulary_ = nullptr;  // null if unigram_ is set
  std::uint32_t size_ = 0;
  std::uint32_t special_tokens_ = 0;
  std::vector<llama_token> around_nothing_;
  std::size_t before_ = 0;  // special tokens before every text; the others follow it
  // One of the two tokenizes.
  std::optional<TextTokenizer> texts_;
  std::unique_ptr<const UnigramVocabulary> unigram_;
};

}  // namespace lorekeep::engine
