// The pieces of a vocabulary as flat arrays, sorted by spelling. Internal to native/engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace lorekeep::engine {

struct Piece {
  std::string_view text;  // not empty
  std::int32_t token;
  float score;
};

/// Finds the pieces that begin a text: one binary search, then a chain of prefixes. 250,000 pieces take 10 MB and some
/// 30 ms to sort; a trie of maps takes 150 MB and a second. Thread-safe.
class PieceIndex {
 public:
  /// Copies the pieces. Of two with one spelling, the first one counts. Precondition: together less than 4 GiB.
  explicit PieceIndex(std::span<const Piece> pieces);

  /// Bytes of the longest piece.
  std::size_t longest() const noexcept { return longest_; }

  /// Calls visit(bytes, token, score) for each piece that begins the text, longest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit visit) const {
    std::uint32_t at = last_up_to(text);
    if (at == kNone) return;
    const std::string_view nearest = text_of(entries_[at]);
    const std::size_t most = std::min(nearest.size(), text.size());
    std::size_t common = 0;
    while (common < most && nearest[common] == text[common]) ++common;
    // A piece that begins the text also begins the greatest one up to the text.
    for (; at != kNone; at = entries_[at].prefix) {
      const Entry& entry = entries_[at];
      if (entry.bytes <= common) visit(std::size_t{entry.bytes}, entry.token, entry.score);
    }
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Entry {
    std::uint32_t begin;  // of the spelling
    std::uint32_t bytes;
    std::uint32_t prefix;  // the longest other piece that begins this one, or kNone
    std::int32_t token;
    float score;
  };

  std::string_view text_of(const Entry& entry) const noexcept { return {texts_.data() + entry.begin, entry.bytes}; }
  /// Returns the greatest piece that does not come after the text, or kNone.
  std::uint32_t last_up_to(std::string_view text) const noexcept;
  void link_prefixes();

  std::vector<char> texts_;
  std::vector<Entry> entries_;         // in order of spelling
  std::vector<std::uint64_t> keys_;    // first bytes of the spellings, in order
  std::vector<std::uint32_t> starts_;  // of the entries that begin with two bytes
  std::size_t longest_ = 0;
};

}  // namespace lorekeep::engine
