#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "core/values/seeded_hash.h"
#include "core/values/utf8.h"
#include "text/english.h"

namespace lorekeep::text {
namespace {

// ASCII byte -> its folded letter or its digit; 0 for separators.
constexpr std::array<char, 128> make_ascii_table() {
  std::array<char, 128> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) {
    table[static_cast<std::size_t>(c)] = c;
    table[static_cast<std::size_t>(c - 'a' + 'A')] = c;
  }
  return table;
}
constexpr std::array<char, 128> kAscii = make_ascii_table();

Dividers make_dividers() noexcept {
  Dividers dividers{};
  for (std::size_t byte = 0; byte < kAscii.size(); ++byte) dividers[byte] = kAscii[byte] == 0;
  return dividers;
}

}  // namespace

std::string_view tokenizer_name(Tokenizer tokenizer) noexcept {
  const auto* found = std::ranges::find(kTokenizers, tokenizer, &NamedTokenizer::tokenizer);
  return found == std::end(kTokenizers) ? "unknown" : found->name;
}

bool is_tokenizer(std::uint32_t number) noexcept {
  return std::ranges::any_of(
      kTokenizers, [number](Tokenizer known) { return number == static_cast<std::uint32_t>(known); },
      &NamedTokenizer::tokenizer);
}

const Dividers& dividers_of(Tokenizer tokenizer) noexcept {
  static const Dividers words = make_dividers();
  static const Dividers multilingual = multilingual_dividers();
  return tokenizer == Tokenizer::kMultilingual ? multilingual : words;
}

bool TokenStream::next(std::string_view& token) {
  for (;;) {
    std::size_t size = next_word();
    if (size == 0) return false;
    if (tokenizer_ == Tokenizer::kEnhanced) {
      if (is_english_stopword({token_, size})) continue;
      size = strip_english_suffix(token_, size);
    }
    token = {token_, size};
    return true;
  }
}

// Fills token_ with the next run of letters and numbers and returns its size; 0 at the end of the text.
std::size_t TokenStream::next_word() {
  std::size_t size = 0;
  if (folded_next_ < folded_count_ && append_folded(size)) return size;
  const char* at = at_;
  while (at < stop_ || reads_on(at)) {
    const auto byte = static_cast<std::uint8_t>(*at);
    if (byte < 0x80) {
      const char folded = kAscii[byte];
      if (folded == 0) {
        ++at;
        if (size == 0) continue;
        break;
      }
      if (size == kMaxTokenBytes) break;
      token_[size++] = folded;
      ++at;
      continue;
    }
    folded_next_ = 0;
    folded_count_ = static_cast<std::uint8_t>(fold(decode_utf8(at, end_), folded_));
    if (append_folded(size)) break;
  }
  at_ = at;
  return size;
}

/// Polls. Returns false at the end of the text.
bool TokenStream::reads_on(const char* at) {
  if (at >= end_) return false;
  cancel_->check();
  stop_ = at + std::min<std::ptrdiff_t>(kTextBytesPerPoll, end_ - at);
  return true;
}

// Appends pending folded code points to token_. Returns true if the token ends before all of them are used.
bool TokenStream::append_folded(std::size_t& size) noexcept {
  while (folded_next_ < folded_count_) {
    const FoldedCodePoint part = folded_[folded_next_];
    if (part.is_word) {
      char bytes[kMaxUtf8Bytes];
      const std::size_t count = encode_utf8(part.code_point, bytes);
      if (size + count > kMaxTokenBytes) return true;
      for (std::size_t i = 0; i < count; ++i) token_[size++] = bytes[i];
      ++folded_next_;
    } else {
      ++folded_next_;
      if (size > 0) return true;
    }
  }
  return false;
}

std::vector<std::string> tokenize(std::string_view utf8, Tokenizer tokenizer) {
  std::vector<std::string> tokens;
  for_each_token(utf8, tokenizer, [&](std::string_view token, TokenKind kind) {
    if (kind == TokenKind::kWord) tokens.emplace_back(token);
  });
  return tokens;
}

std::vector<std::pair<std::string, std::uint32_t>> compounds_of(std::string_view utf8, Tokenizer tokenizer) {
  std::vector<std::pair<std::string, std::uint32_t>> compounds;
  if (tokenizer != Tokenizer::kMultilingual) return compounds;
  std::unordered_set<std::string, SeededHash> words;
  std::unordered_map<std::string, std::size_t, SeededHash> known;
  for_each_token(utf8, tokenizer, [&](std::string_view token, TokenKind kind) {
    if (kind == TokenKind::kWord) words.emplace(token);
    if (kind != TokenKind::kCompound) return;
    const auto [at, added] = known.try_emplace(std::string(token), compounds.size());
    if (added) {
      compounds.emplace_back(token, 1);
    } else {
      ++compounds[at->second].second;
    }
  });
  std::erase_if(compounds, [&](const auto& compound) { return words.contains(compound.first); });
  return compounds;
}

}  // namespace lorekeep::text
