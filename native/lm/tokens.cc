#include "lm/tokens.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <new>

#include "core/error.h"
#include "core/utf8.h"
#include "engine/abort_guard.h"

namespace lorekeep::lm {

Tokens::Tokens(const llama_model& model) : vocabulary_(llama_model_get_vocab(&model)) {
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

std::vector<Token> Tokens::tokenize(std::string_view text, bool control) const {
  const std::string repaired = is_valid_utf8(text) ? std::string() : repair_utf8(text);
  if (!repaired.empty()) text = repaired;
  constexpr std::size_t kGuess = 16;
  std::vector<Token> tokens(text.size() / 2 + kGuess);
  const engine::AbortGuard guard;
  try {
    for (;;) {
      const std::int32_t count =
          llama_tokenize(vocabulary_, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                         static_cast<std::int32_t>(tokens.size()), false, control);
      if (count >= 0) {
        tokens.resize(static_cast<std::size_t>(count));
        break;
      }
      if (count == std::numeric_limits<std::int32_t>::min())
        fail(Code::kTextTooLong, "the text has more than 2^31 tokens");
      tokens.resize(static_cast<std::size_t>(-count));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(Code::kModelInvalid, std::string("the vocabulary cannot spell a text: ") + error.what());
  }
  for (Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= size_)
      fail(Code::kModelInvalid, "the vocabulary has no token for unknown words");
  }
  return tokens;
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
