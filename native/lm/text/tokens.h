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

  /// As TextTokenizer::tokenize().
  std::vector<Token> tokenize(std::string_view text, bool control, const CancelToken* cancel = nullptr,
                              std::size_t most = engine::kAllTokens) const {
    return texts_.tokenize(text, control, cancel, most);
  }

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
  engine::TextTokenizer texts_;
};

}  // namespace lorekeep::lm
