// One term's postings. Documents are grouped by ordinal into blocks of kBlockDocuments, the same for every term, so
// that the block maxima of a query's terms can be added up. Byte layout:
//
//   entry      size varint of the rest | term size varint | term | documents varint | blocks varint | directory |
//              bodies
//   directory  of a term in fewer than half of the index's blocks ("sparse"), one of each per block with it:
//                impact u8 ... | body size u8 ... | gap varint ... (block number - previous one - 1; the first: itself)
//              of other terms ("dense"), one of each per block of the index, 0 if the term does not occur there,
//              padded with 0 to a multiple of kBlocksPerStart:
//                impact u8 ... | body size u8 ... | body start u32 of every kBlocksPerStart-th block
//   body       per document, ascending: local ordinal * 4 + code, one byte; code 0, 1, 2: term frequency 1, 2, 3;
//              code 3: the frequency follows as u16
//
// impact = floor(255 * f) + 1, at most 255, where f is the largest Bm25Norm::fraction() of the block: impact / 255 is
// an upper bound of f.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text/bm25.h"

namespace lorekeep::text {

// Unsigned LEB128 numbers: seven bits per byte, low bits first.
inline void write_varint(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

/// Reads without checks, so only bytes that this program wrote or checked. Moves `at` past the number.
inline std::uint64_t read_varint(const std::byte*& at) noexcept {
  std::uint64_t value = 0;
  int shift = 0;
  for (;; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

/// Reads untrusted bytes. Returns false if the number runs past `end` or has more than 63 bits.
inline bool read_varint_checked(const std::byte*& at, const std::byte* end, std::uint64_t& value) noexcept {
  value = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    if (at == end) return false;
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

inline constexpr std::uint32_t kBlockDocuments = 64;
inline constexpr std::uint32_t kBlocksPerStart = 8;
inline constexpr std::uint32_t kImpactScale = 255;
/// Keeps every count below in 32 bits, body starts of dense terms included.
inline constexpr std::uint64_t kMaxDocuments = std::uint64_t{1} << 30;

inline std::uint32_t blocks_of(std::uint32_t documents) noexcept {
  return (documents + kBlockDocuments - 1) / kBlockDocuments;
}
inline bool is_dense(std::uint32_t blocks_with_term, std::uint32_t blocks) noexcept {
  return std::uint64_t{blocks_with_term} * 2 >= blocks;
}
inline std::uint32_t starts_of(std::uint32_t blocks) noexcept {
  return (blocks + kBlocksPerStart - 1) / kBlocksPerStart;
}
/// Rows of a dense directory.
inline std::uint32_t dense_rows(std::uint32_t blocks) noexcept {
  return starts_of(blocks) * kBlocksPerStart;
}
inline std::uint8_t impact_of(float fraction) noexcept {
  const float scaled = fraction * static_cast<float>(kImpactScale);
  return static_cast<std::uint8_t>(scaled >= 254.0f ? kImpactScale : static_cast<std::uint32_t>(scaled) + 1);
}

/// The most bytes of a posting.
inline constexpr std::size_t kMaxPostingBytes = 3;

/// Writes one posting of a body and returns its end. `local` < kBlockDocuments; `frequency` >= 1 is capped at
/// kMaxTermFrequency.
inline std::byte* write_posting(std::byte* at, std::uint32_t local, std::uint32_t frequency) noexcept {
  if (frequency <= 3) {
    *at++ = static_cast<std::byte>(local << 2 | (frequency - 1));
    return at;
  }
  const std::uint32_t capped = frequency < kMaxTermFrequency ? frequency : kMaxTermFrequency;
  *at++ = static_cast<std::byte>(local << 2 | 3);
  *at++ = static_cast<std::byte>(capped);
  *at++ = static_cast<std::byte>(capped >> 8);
  return at;
}

/// Calls visit(local, frequency) for every posting of a body. This program must have written or checked the body.
template <class Visit>
inline void for_each_posting(const std::byte* body, std::size_t size, Visit&& visit) {
  for (const std::byte* const end = body + size; body < end;) {
    const auto head = std::to_integer<std::uint32_t>(*body++);
    std::uint32_t frequency = (head & 3) + 1;
    if (frequency == 4) {
      frequency = std::to_integer<std::uint32_t>(body[0]) | std::to_integer<std::uint32_t>(body[1]) << 8;
      body += 2;
    }
    visit(head >> 2, frequency);
  }
}

/// The parts of an entry, in place. This program must have written or checked the entry.
struct TermEntry {
  std::string_view term;
  std::uint32_t documents = 0;
  std::uint32_t blocks = 0;  // with the term
  const std::byte* directory = nullptr;

  /// Parses the entry at `at` and moves `at` past it.
  static TermEntry parse(const std::byte*& at) noexcept {
    const std::uint64_t size = read_varint(at);
    const std::byte* const end = at + size;
    TermEntry entry;
    const auto term_size = static_cast<std::size_t>(read_varint(at));
    entry.term = {reinterpret_cast<const char*>(at), term_size};
    at += term_size;
    entry.documents = static_cast<std::uint32_t>(read_varint(at));
    entry.blocks = static_cast<std::uint32_t>(read_varint(at));
    entry.directory = at;
    at = end;
    return entry;
  }
};

/// Collects the blocks of one term and writes its entry. Reusable: start() begins the next term.
class TermEncoder {
 public:
  /// `blocks` of the whole index.
  explicit TermEncoder(std::uint32_t blocks) : index_blocks_(blocks) {}

  void start(std::string_view term);
  /// Call in ascending order of blocks. The body holds `documents` postings.
  void add(std::uint32_t block, std::uint32_t documents, std::uint8_t impact, const std::byte* body, std::size_t size);
  void finish(std::vector<std::byte>& out);

 private:
  void write_sparse_directory();
  void write_dense_directory();

  std::uint32_t index_blocks_;
  std::string_view term_;
  std::uint32_t documents_ = 0;
  std::vector<std::uint32_t> blocks_;
  std::vector<std::uint8_t> impacts_;
  std::vector<std::uint8_t> sizes_;
  std::vector<std::byte> bodies_;
  std::vector<std::byte> payload_;
};

}  // namespace lorekeep::text
