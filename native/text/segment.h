// The inverted index of a run of consecutive documents. Each worker builds segments, which are then merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/threads/poll.h"
#include "text/term_counter.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

/// Returns the text of a document. Must be thread-safe; the view must stay valid until the build has ended.
using TextOf = std::function<std::string_view(std::size_t document)>;

struct Segment {
  struct Term {
    std::uint64_t hash;
    std::string_view text;      // as long as the builder
    std::uint64_t body_begin;   // of its first block
    std::uint64_t block_begin;  // in `blocks`
    std::uint32_t block_count;
  };
  struct Block {
    std::uint32_t number;    // in the whole index
    std::uint8_t documents;  // 1 to kBlockDocuments
    std::uint8_t size;       // of its body in bytes
  };
  std::vector<Term> terms;  // in order of (hash, text)
  std::vector<Block> blocks;
  std::vector<std::byte> bodies;  // of all blocks, one after the other
};

/// The most documents in one segment: local ordinals are stored in 16 bits.
inline constexpr std::uint32_t kMaxSegmentDocuments = 1u << 16;

/// Builds segments one after another. Most words of a segment occurred in those before it, so a thread builds several
/// with one builder.
class SegmentBuilder {
 public:
  /// `text_of` and `cancel`, which may be null, must outlive the builder. Grain of cancellation: one document, 64 KiB
  /// of one, 65,536 terms.
  SegmentBuilder(const TextOf& text_of, Tokenizer tokenizer, const CancelToken* cancel);

  /// Tokenises and inverts documents [first, first + lengths.size()) and fills in their lengths in tokens. `first` is a
  /// multiple of kBlockDocuments. Throws as CancelToken::check(); the builder is of no use then.
  Segment build(std::uint32_t first, std::span<std::uint32_t> lengths);
  /// Ends building. Frees all memory but that of terms.
  void end() noexcept;

 private:
  struct Posting {
    std::uint32_t term;
    std::uint16_t document;  // within the segment
    std::uint16_t frequency;
  };
  struct DocumentFrequency {
    std::uint16_t document;
    std::uint16_t frequency;
  };
  struct OrderedTerm {
    std::uint64_t hash;
    std::uint32_t number;
    std::uint32_t documents;
  };

  void count_documents(std::uint32_t first, std::span<std::uint32_t> lengths);
  void order_terms();
  void sort_postings();

  const TextOf& text_of_;
  const CancelToken* const cancel_;
  Poll poll_;
  TermCounter counter_;
  // Of the segment that is built. The memory is used again for the next one.
  std::vector<Posting> postings_;
  std::vector<OrderedTerm> terms_;
  std::vector<DocumentFrequency> sorted_;
  std::vector<std::uint64_t> places_;  // by term: of its next posting
};

}  // namespace lorekeep::text
