// How often the terms of an index occur in documents that were removed from its collection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/poll.h"
#include "core/threads/work.h"
#include "text/postings.h"
#include "text/segment.h"

namespace lorekeep::text {

class TextIndex;

/// Exact counts for one index. Immutable: with() shares the counts of earlier removals. Counts are in layers whose
/// sizes at least double, so that adding a document's terms costs O(log n) each, and so does a look-up per layer.
class DeletedTerms {
 public:
  /// Returns the counts of `before` (null: none) and of more documents, none of them counted yet. `text_of` gives the
  /// texts that were indexed. Throws Error(kCorrupt) as TextIndex::find(), kCancelled. Grain of cancellation: one
  /// document, 64 KiB of one, 65,536 terms.
  static std::shared_ptr<const DeletedTerms> with(const DeletedTerms* before, const TextIndex& index,
                                                  std::span<const std::uint32_t> documents, const TextOf& text_of,
                                                  const Work& work = {});

  /// Returns how many of the removed documents contain the term. `entry`: of the same index.
  std::uint32_t documents_with(const TermEntry& entry) const noexcept;
  /// Sum of the removed documents' lengths.
  std::uint64_t tokens() const noexcept { return tokens_; }
  std::size_t memory_bytes() const noexcept;

 private:
  /// A term is identified by its directory in the index.
  struct Count {
    const std::byte* directory;
    std::uint32_t documents;
  };
  using Layer = std::vector<Count>;  // ascending, distinct

  static Layer merged(const Layer& a, const Layer& b, Poll& poll);
  void push(Layer layer, Poll& poll);

  std::vector<std::shared_ptr<const Layer>> layers_;  // largest first
  std::uint64_t tokens_ = 0;
};

}  // namespace lorekeep::text
