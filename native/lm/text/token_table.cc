#include "lm/text/token_table.h"

#include <algorithm>

namespace lorekeep::lm {

TokenTable::TokenTable(const std::vector<TokenEntry>& tokens) {
  std::vector<Token> sorted;
  begins_.push_back(0);
  for (const TokenEntry& entry : tokens) {
    const auto token = static_cast<Token>(kinds_.size());
    bytes_ += entry.bytes;
    begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    kinds_.push_back(entry.kind);
    if (entry.kind == TokenKind::kEnd) ends_.push_back(token);
    const bool usable = !entry.bytes.empty() && entry.bytes.size() <= kMaxTokenBytes;
    if (entry.kind == TokenKind::kText && usable) sorted.push_back(token);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [this](Token a, Token b) { return bytes(a) < bytes(b); });

  std::vector<std::size_t> open;  // nodes on the way to the current token
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) trie_[open.back()].past = static_cast<std::uint32_t>(trie_.size());
  };
  for (const Token token : sorted) {
    const std::string_view text = bytes(token);
    std::size_t common = 0;
    while (common < open.size() && common < text.size() &&
           trie_[open[common]].byte == static_cast<std::uint8_t>(text[common])) {
      ++common;
    }
    close_to(common);
    while (open.size() < text.size()) {
      open.push_back(trie_.size());
      trie_.push_back({0, static_cast<std::uint32_t>(trie_tokens_.size()), static_cast<std::uint16_t>(open.size()),
                       static_cast<std::uint8_t>(text[open.size() - 1])});
    }
    trie_tokens_.push_back(token);
  }
  close_to(0);
  trie_.push_back({static_cast<std::uint32_t>(trie_.size()), static_cast<std::uint32_t>(trie_tokens_.size()), 0, 0});
}

std::string_view TokenTable::bytes(Token token) const noexcept {
  const auto i = static_cast<std::size_t>(token);
  return std::string_view(bytes_).substr(begins_[i], begins_[i + 1] - begins_[i]);
}

std::span<const Token> TokenTable::tokens_at(std::size_t node) const noexcept {
  return std::span<const Token>(trie_tokens_)
      .subspan(trie_[node].first_token, trie_[node + 1].first_token - trie_[node].first_token);
}

}  // namespace lorekeep::lm
