// The vocabulary of a loaded language model. Internal to native/lm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "engine/vocabulary.h"
#include "llama.h"
#include "lm/text/token.h"

namespace lorekeep::lm {

class Tokens {
 public:
  explicit Tokens(const llama_model& model);

  const llama_vocab* vocabulary() const noexcept { return vocabulary_; }
  std::uint32_t size() const noexcept { return size_; }
  /// Bytes of the longest token.
  std::size_t longest() const noexcept { return longest_; }

  /// Returns the tokens of a text. `control`: whether spellings of control tokens become control tokens. Ill-formed
  /// UTF-8 is read as U+FFFD. A text of more than kPieceBytes is cut, before a blank between two letters where there is
  /// one: llama.cpp takes time in proportion to the square of a length. Polls `cancel` before each piece, some 20 ms at
  /// most. Throws Error(kModelInvalid) if the vocabulary cannot spell the text, and as CancelToken::check().
  std::vector<Token> tokenize(std::string_view text, bool control, const CancelToken* cancel = nullptr) const;
  static constexpr std::size_t kPieceBytes = std::size_t{8} << 10;

  /// Inserts BOS at the beginning if the model wants it and it is not there.
  void add_begin(std::vector<Token>& tokens) const;

  /// Appends the token's bytes; nothing for control tokens.
  void append_piece(Token token, std::string& text) const;

  /// Returns whether the token ends a reply.
  bool ends(Token token) const noexcept { return llama_vocab_is_eog(vocabulary_, token); }

 private:
  const llama_vocab* vocabulary_;
  std::uint32_t size_;
  std::size_t longest_ = 1;
  bool adds_blank_ = false;  // at the beginning of each text
};

}  // namespace lorekeep::lm
