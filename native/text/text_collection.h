// Text indexes that are searched as one, some of whose documents may have been removed. Scores, statistics and terms
// are those of one index of the remaining documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/values/bitmap.h"
#include "text/bm25.h"
#include "text/deleted_terms.h"
#include "text/tokenizer.h"

namespace lorekeep::text {

class TextIndex;

/// An index in a collection. A row is the place of a document in the collection, removed documents included.
struct CollectionPart {
  const TextIndex* index;
  std::uint32_t first = 0;                // row of the index's first document, a multiple of 64
  const Bitmap* live = nullptr;           // documents that were not removed; null: all
  const DeletedTerms* deleted = nullptr;  // of the removed documents; null: counted from posting lists when needed
};

/// Immutable. The indexes, bitmaps and counts must outlive it.
class TextCollection {
 public:
  /// Precondition: the index stays where it is.
  explicit TextCollection(const TextIndex& index);
  /// `parts`: at least one, in the order of rows, of one tokenizer. `documents`, `tokens`: of the remaining documents.
  TextCollection(std::vector<CollectionPart> parts, std::uint64_t documents, std::uint64_t tokens);

  const std::vector<CollectionPart>& parts() const noexcept { return parts_; }
  Tokenizer tokenizer() const noexcept;
  /// Remaining documents.
  std::uint32_t documents() const noexcept;
  std::uint64_t tokens() const noexcept;
  Bm25Norm norm() const noexcept { return {documents(), tokens()}; }
  /// One more than the last row.
  std::uint32_t rows() const noexcept;
  /// The rows of remaining documents; nothing if these are all rows.
  std::optional<Bitmap> live_rows() const;
  /// Returns the position of the part with a row. Precondition: the row is of a document.
  std::size_t part_of(std::uint32_t row) const noexcept;
  /// Returns the length of a document in tokens.
  std::uint32_t length(std::uint32_t row) const noexcept;

  /// Returns the factor that makes impacts of a part's blocks upper bounds under the collection's norm. At least 1.
  float bound_factor(const CollectionPart& part) const noexcept;

  /// Returns how many remaining documents of a part contain a term of its index.
  static std::uint32_t documents_with(const CollectionPart& part, const TermEntry& entry);
  /// Returns how many remaining documents contain the term. Throws Error(kCorrupt) as TextIndex::find(), kCancelled.
  std::uint32_t documents_with(std::string_view term, const CancelToken* cancel) const;
  /// Returns the words of remaining documents with this prefix, or one edit from a word: distinct, in byte order. Throw
  /// as TextIndex::sorted_terms().
  std::vector<std::string_view> starting_with(std::string_view prefix, const CancelToken* cancel) const;
  std::vector<std::string_view> one_edit_from(std::string_view word, const CancelToken* cancel) const;

 private:
  template <class Find>
  std::vector<std::string_view> terms_of(const CancelToken* cancel, Find&& find) const;

  std::vector<CollectionPart> parts_;
  bool alone_ = false;  // one index, nothing removed: its own numbers hold
  std::uint64_t documents_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace lorekeep::text
