#include "lm/text/token_table.h"

#include <algorithm>
#include <tuple>

namespace lorekeep::lm {
namespace {

/// Tokens between two looks at the cancel token: some milliseconds.
constexpr std::size_t kSortGrain = 16'384;

/// A token in the order of its bytes: most are told apart by the first eight.
struct Keyed {
  std::uint64_t key;
  std::string_view bytes;
  Token token;

  bool operator<(const Keyed& other) const noexcept { return std::tie(key, bytes) < std::tie(other.key, other.bytes); }
};

std::uint64_t key_of(std::string_view bytes) noexcept {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < sizeof(key); ++i) key = key << 8 | (i < bytes.size() ? std::uint8_t(bytes[i]) : 0);
  return key;
}

void check_token(const CancelToken* cancel) {
  if (cancel != nullptr) cancel->check();
}

/// Sorts by bytes; equal ones keep their order.
void sort_by_bytes(std::vector<Keyed>& tokens, const CancelToken* cancel) {
  const std::size_t size = tokens.size();
  const auto at = [&](std::size_t i) { return tokens.begin() + static_cast<std::ptrdiff_t>(std::min(i, size)); };
  for (std::size_t i = 0; i < size; i += kSortGrain) {
    check_token(cancel);
    std::stable_sort(at(i), at(i + kSortGrain));
  }
  for (std::size_t run = kSortGrain; run < size; run *= 2) {
    for (std::size_t i = 0; i < size; i += 2 * run) {
      check_token(cancel);
      std::inplace_merge(at(i), at(i + run), at(i + 2 * run));
    }
  }
}

}  // namespace

TokenTable::TokenTable(const std::vector<TokenEntry>& tokens, const CancelToken* cancel) {
  begins_.push_back(0);
  for (const TokenEntry& entry : tokens) {
    const auto token = static_cast<Token>(kinds_.size());
    bytes_ += entry.bytes;
    begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    kinds_.push_back(entry.kind);
    if (entry.kind == TokenKind::kEnd) ends_.push_back(token);
  }
  std::vector<Keyed> sorted;
  for (Token token = 0; token < static_cast<Token>(tokens.size()); ++token) {
    const std::string_view text = bytes(token);
    if (kind(token) == TokenKind::kText && !text.empty() && text.size() <= kMaxTokenBytes)
      sorted.push_back({key_of(text), text, token});
  }
  sort_by_bytes(sorted, cancel);

  std::vector<std::size_t> open;  // nodes on the way to the current token
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) trie_[open.back()].past = static_cast<std::uint32_t>(trie_.size());
  };
  for (const auto& [key, text, token] : sorted) {
    if (trie_tokens_.size() % kSortGrain == 0) check_token(cancel);
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
