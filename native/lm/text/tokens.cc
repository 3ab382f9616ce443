#include "lm/text/tokens.h"

#include <algorithm>
#include <array>

#include "core/values/error.h"

namespace lorekeep::lm {

Tokens::Tokens(const llama_model& model) : vocabulary_(llama_model_get_vocab(&model)), texts_(model) {
  size_ = static_cast<std::uint32_t>(llama_vocab_n_tokens(vocabulary_));
  if (llama_vocab_get_add_bos(vocabulary_) && llama_vocab_bos(vocabulary_) == LLAMA_TOKEN_NULL)
    fail(Code::kModelInvalid, "the vocabulary has no first (BOS) token, which every text of this model gets");
  std::string piece;
  for (Token token = 0; token < static_cast<Token>(size_); ++token) {
    piece.clear();
    append_piece(token, piece);
    longest_ = std::max(longest_, piece.size());
  }
}

void Tokens::add_begin(std::vector<Token>& tokens) const {
  if (!llama_vocab_get_add_bos(vocabulary_)) return;
  const Token begin = llama_vocab_bos(vocabulary_);
  if (tokens.empty() || tokens.front() != begin) tokens.insert(tokens.begin(), begin);
}

void Tokens::append_piece(Token token, std::string& text) const {
  std::array<char, 64> buffer;
  std::int32_t bytes = llama_token_to_piece(vocabulary_, token, buffer.data(), buffer.size(), 0, false);
  if (bytes >= 0) {
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
    return;
  }
  std::string large(static_cast<std::size_t>(-bytes), '\0');
  bytes = llama_token_to_piece(vocabulary_, token, large.data(), static_cast<std::int32_t>(large.size()), 0, false);
  if (bytes > 0) text.append(large.data(), static_cast<std::size_t>(bytes));
}

}  // namespace lorekeep::lm
