#include "engine/piece_index.h"

#include <algorithm>

namespace lorekeep::engine {
namespace {

constexpr std::size_t kKeyBytes = sizeof(std::uint64_t);
constexpr int kBucketShift = 48;  // a bucket: the first two bytes
constexpr std::size_t kBuckets = std::size_t{1} << 16;

/// The first bytes of a text as a number that is ordered as they are. Absent bytes are zeros.
std::uint64_t leading_bytes(std::string_view text) noexcept {
  std::uint64_t key = 0;
  const std::size_t count = std::min(text.size(), kKeyBytes);
  for (std::size_t i = 0; i < count; ++i)
    key |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (kKeyBytes - 1 - i));
  return key;
}

struct Sorted {
  std::uint64_t key;
  std::uint32_t piece;
};

}  // namespace

PieceIndex::PieceIndex(std::span<const Piece> pieces) {
  std::vector<Sorted> order(pieces.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    order[i] = {leading_bytes(pieces[i].text), static_cast<std::uint32_t>(i)};
    bytes += pieces[i].text.size();
  }
  std::ranges::sort(order, [&pieces](const Sorted& a, const Sorted& b) {
    if (a.key != b.key) return a.key < b.key;
    const int compared = pieces[a.piece].text.compare(pieces[b.piece].text);
    return compared == 0 ? a.piece < b.piece : compared < 0;
  });
  texts_.reserve(bytes);
  entries_.reserve(order.size());
  keys_.reserve(order.size());
  for (const Sorted& one : order) {
    const Piece& piece = pieces[one.piece];
    if (!entries_.empty() && text_of(entries_.back()) == piece.text) continue;
    entries_.push_back({static_cast<std::uint32_t>(texts_.size()), static_cast<std::uint32_t>(piece.text.size()), kNone,
                        piece.token, piece.score});
    texts_.insert(texts_.end(), piece.text.begin(), piece.text.end());
    keys_.push_back(one.key);
    longest_ = std::max(longest_, piece.text.size());
  }
  link_prefixes();
  starts_.resize(kBuckets + 1);
  std::size_t entry = 0;
  for (std::size_t bucket = 0; bucket <= kBuckets; ++bucket) {
    while (entry < keys_.size() && keys_[entry] >> kBucketShift < bucket) ++entry;
    starts_[bucket] = static_cast<std::uint32_t>(entry);
  }
}

void PieceIndex::link_prefixes() {
  std::vector<std::uint32_t> open;  // each begins the next
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const std::string_view text = text_of(entries_[i]);
    while (!open.empty() && !text.starts_with(text_of(entries_[open.back()]))) open.pop_back();
    if (!open.empty()) entries_[i].prefix = open.back();
    open.push_back(i);
  }
}

std::uint32_t PieceIndex::last_up_to(std::string_view text) const noexcept {
  const std::uint64_t key = leading_bytes(text);
  const std::size_t bucket = key >> kBucketShift;
  const auto first = keys_.begin() + starts_[bucket];
  const auto last = keys_.begin() + starts_[bucket + 1];
  const auto low = std::lower_bound(first, last, key);
  const auto high = std::upper_bound(low, last, key);
  // Between them, the first bytes are those of the text.
  std::size_t after = static_cast<std::size_t>(low - keys_.begin());
  const std::size_t end = static_cast<std::size_t>(high - keys_.begin());
  for (std::size_t count = end - after; count > 0;) {
    const std::size_t half = count / 2;
    if (text_of(entries_[after + half]) <= text) {
      after += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return after == 0 ? kNone : static_cast<std::uint32_t>(after - 1);
}

}  // namespace lorekeep::engine
