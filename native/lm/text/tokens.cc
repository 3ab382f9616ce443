#include "lm/text/tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/values/error.h"

namespace lorekeep::lm {
namespace {

/// Bytes before the end of a piece in which a blank is looked for.
constexpr std::size_t kLookBack = std::size_t{1} << 10;

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the bytes of the first piece of a text. No vocabulary has a token over a blank between two letters, unless
/// its words are phrases.
std::size_t piece_end(std::string_view text) noexcept {
  constexpr std::size_t kMost = Tokens::kPieceBytes;
  if (text.size() <= kMost + 1) return text.size();
  for (std::size_t at = kMost; at > kMost - kLookBack; --at) {
    if (text[at] == ' ' && is_letter(text[at - 1]) && is_letter(text[at + 1])) return at;
  }
  std::size_t at = kMost;
  while (at > kMost - 3 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;  // inside a character
  return at;
}

}  // namespace

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
  std::string spelled;
  try {
    for (const Token token : engine::tokenize(*vocabulary_, "a", false, false)) append_piece(token, spelled);
  } catch (const Error&) {  // a vocabulary without letters
  }
  adds_blank_ = spelled.starts_with(' ');
}

std::vector<Token> Tokens::tokenize(std::string_view text, bool control, const CancelToken* cancel) const {
  std::vector<Token> tokens;
  for (bool first = true; first || !text.empty(); first = false) {
    if (cancel != nullptr) cancel->check();
    const std::size_t end = piece_end(text);
    std::string_view piece = text.substr(0, end);
    if (!first && adds_blank_ && piece.starts_with(' ')) piece.remove_prefix(1);
    std::vector<Token> more = engine::tokenize(*vocabulary_, piece, false, control);
    if (first)
      tokens = std::move(more);
    else
      tokens.insert(tokens.end(), more.begin(), more.end());
    text.remove_prefix(end);
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
