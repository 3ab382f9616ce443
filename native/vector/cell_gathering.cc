#include "vector/cell_gathering.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace lorekeep::vector {
namespace {

constexpr std::size_t kPlacesPerByte = 8;

/// The positions of the set bits of a byte, ascending.
struct SetBits {
  std::uint8_t count;
  std::uint8_t numbers[8];
};

constexpr std::array<SetBits, 256> kSetBits = [] {
  std::array<SetBits, 256> all{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) all[byte].numbers[all[byte].count++] = static_cast<std::uint8_t>(bit);
    }
  }
  return all;
}();

/// Returns 64 bits from `bit` on; zeros beyond the last word.
std::uint64_t bits_from(const std::vector<std::uint64_t>& words, std::size_t bit) noexcept {
  const std::size_t shift = bit % 64;
  const std::uint64_t low = words[bit / 64] >> shift;
  return shift == 0 || bit / 64 + 1 == words.size() ? low : low | words[bit / 64 + 1] << (64 - shift);
}

}  // namespace

void CellGathering::add(const RankedCell& cell, const RankedCell* following) {
  // Without cell order, members are read now; with it, by the scoring of rows that sketches do not rule out.
  if (in_cell_order_ == nullptr && following != nullptr) prefetch_members(*following);
  const std::uint32_t begin = cells_.starts()[cell.number];
  const std::uint32_t end = cells_.starts()[cell.number + 1];
  const std::size_t room = size_ + (end - begin) + kPlacesPerByte;
  if (room > places_.size()) {
    places_.resize(2 * room);
    centre_distances_.resize(places_.size());
  }
  const std::size_t size = in_cell_order_ != nullptr ? append_in_cell_order(begin, end) : append_matching(begin, end);
  std::fill(centre_distances_.data() + size_, centre_distances_.data() + size, cell.centre_distance);
  if (size == size_) return;
  if (in_cell_order_ != nullptr) prefetch_members(cell);
  groups_.push_back({cell.number, size});
  size_ = size;
}

/// Appends the matching places of [begin, end) and returns the new total.
std::size_t CellGathering::append_matching(std::uint32_t begin, std::uint32_t end) noexcept {
  const std::uint32_t* const members = cells_.members().data();
  const std::uint64_t* const words = filter_.words().data();
  std::uint32_t* const places = places_.data();
  std::size_t size = size_;
  for (std::uint32_t place = begin; place < end; ++place) {
    places[size] = place;
    size += (words[members[place] / 64] >> (members[place] % 64)) & 1;
  }
  return size;
}

/// The same, eight places at once. If near rows match together or not at all, most bytes are skipped (measured: 0.2 ns
/// per row instead of 1). Writes up to kPlacesPerByte values beyond the end.
std::size_t CellGathering::append_in_cell_order(std::uint32_t begin, std::uint32_t end) noexcept {
  const std::vector<std::uint64_t>& words = in_cell_order_->words();
  std::uint32_t* const places = places_.data();
  std::size_t size = size_;
  for (std::uint32_t group = begin; group < end; group += 64) {
    std::uint64_t bits = bits_from(words, group);
    if (end - group < 64) {
      bits &= (std::uint64_t{1} << (end - group)) - 1;
    } else if (bits == ~std::uint64_t{0}) {
      std::iota(places + size, places + size + 64, group);
      size += 64;
      continue;
    }
    for (std::uint32_t place = group; bits != 0; bits >>= 8, place += kPlacesPerByte) {
      const SetBits& set = kSetBits[bits & 255];
      for (std::size_t i = 0; i < kPlacesPerByte; ++i) places[size + i] = place + set.numbers[i];
      size += set.count;
    }
  }
  return size;
}

void CellGathering::prefetch_members(const RankedCell& cell) const noexcept {
  const std::uint32_t end = cells_.starts()[cell.number + 1];
  for (std::uint32_t place = cells_.starts()[cell.number]; place < end; place += kOrdinalsPerLine) {
    prefetch_line(cells_.members().data() + place);
  }
}

}  // namespace lorekeep::vector
