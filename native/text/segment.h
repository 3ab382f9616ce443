// The inverted index of a run of consecutive documents. Each worker builds segments, which are then merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

/// Returns the text of a document. Must be thread-safe; the view must stay valid until the build has ended.
using TextOf = std::function<std::string_view(std::size_t document)>;

struct Segment {
  struct Term {
    std::uint64_t hash;
    std::uint64_t text_begin;
    std::uint64_t body_begin;   // of its first block
    std::uint64_t block_begin;  // in `blocks`
    std::uint32_t text_size;
    std::uint32_t block_count;
  };
  struct Block {
    std::uint32_t number;    // in the whole index
    std::uint8_t documents;  // 1 to kBlockDocuments
    std::uint8_t size;       // of its body in bytes
  };
  std::vector<Term> terms;  // in order of (hash, text)
  std::vector<char> text;
  std::vector<Block> blocks;
  std::vector<std::byte> bodies;  // of all blocks, one after the other

  std::string_view text_of(const Term& term) const noexcept { return {text.data() + term.text_begin, term.text_size}; }
};

/// The most documents in one segment: local ordinals are stored in 16 bits.
inline constexpr std::uint32_t kMaxSegmentDocuments = 1u << 16;

/// Tokenises and inverts documents [first, first + lengths.size()) and fills in their lengths in tokens. `first` is a
/// multiple of kBlockDocuments. Grain of cancellation: one document, 64 KiB of one, 65,536 terms.
Segment build_segment(std::uint32_t first, std::span<std::uint32_t> lengths, const TextOf& text_of, Tokenizer tokenizer,
                      const CancelToken* cancel);

}  // namespace lorekeep::text
