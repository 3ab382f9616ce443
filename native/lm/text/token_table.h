// The bytes of every token of a vocabulary, and a trie over them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "lm/text/token.h"

namespace lorekeep::lm {

enum class TokenKind : std::uint8_t {
  kText,     // adds its bytes to the reply
  kEnd,      // ends generation
  kControl,  // any other control token: adds nothing to the reply
};

struct TokenEntry {
  std::string bytes;
  TokenKind kind;
};

/// A longer token is never allowed where bytes are constrained.
inline constexpr std::size_t kMaxTokenBytes = 1024;

/// Immutable, shared by all requests of a model.
class TokenTable {
 public:
  /// Throws Error(kCancelled).
  explicit TokenTable(const std::vector<TokenEntry>& tokens, const CancelToken* cancel = nullptr);

  std::size_t size() const noexcept { return kinds_.size(); }
  /// Precondition for both: 0 <= token < size().
  TokenKind kind(Token token) const noexcept { return kinds_[static_cast<std::size_t>(token)]; }
  std::string_view bytes(Token token) const noexcept;
  std::span<const Token> ends() const noexcept { return ends_; }

  /// A node of the trie of text tokens with 1 to kMaxTokenBytes bytes, in depth-first order: the children of node i
  /// begin at i + 1, and the subtree of i ends before `past`.
  struct Node {
    std::uint32_t past;
    std::uint32_t first_token;  // of trie_tokens(): the tokens that end here
    std::uint16_t depth;        // bytes on the way to this node
    std::uint8_t byte;          // the last of them
  };
  std::span<const Node> trie() const noexcept { return std::span<const Node>(trie_).first(trie_.size() - 1); }
  /// The tokens that end at trie node i.
  std::span<const Token> tokens_at(std::size_t node) const noexcept;
  /// The bytes on the way to trie node i.
  std::string_view path_to(std::size_t node) const noexcept {
    return bytes(trie_tokens_[trie_[node].first_token]).substr(0, trie_[node].depth);
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> begins_;  // size() + 1 offsets into bytes_
  std::vector<TokenKind> kinds_;
  std::vector<Token> ends_;
  std::vector<Node> trie_;  // and one behind the last
  std::vector<Token> trie_tokens_;
};

}  // namespace lorekeep::lm
