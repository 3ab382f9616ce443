// An embedded string storage in memory: records, and whatever they can be searched by.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "core/mapped_file.h"
#include "core/text_arena.h"
#include "filter/columns.h"
#include "store/search.h"
#include "text/text_index.h"
#include "vector/vector_index.h"

namespace lorekeep::store {

/// What a storage is made of. All parts describe the same records in the same order: the ordinal is the position.
struct StorageParts {
  TextArena ids;                                       // unique, not empty, UTF-8
  TextArena texts;                                     // one per id
  std::shared_ptr<const vector::VectorIndex> vectors;  // null: no dense search
  std::shared_ptr<const text::TextIndex> text_index;   // null: no lexical search
  std::shared_ptr<const filter::Columns> metadata;     // null: no fields, no filter
  std::shared_ptr<const MappedFile> file;              // of ids and texts; null: they are in memory
  bool ids_checked = false;                            // whoever read them has found no id empty or twice
};

/// Immutable once made, so every method may be called from any number of threads at once.
class Storage {
 public:
  /// Throws Error(kInvalidArgument) when there are no records, a part has another number of records, an id is empty or
  /// an id occurs twice (both positions are named).
  explicit Storage(StorageParts parts);

  std::size_t size() const noexcept { return parts_.ids.size(); }
  /// Precondition: ordinal < size(). The views live as long as the storage.
  std::string_view id(std::uint32_t ordinal) const noexcept { return parts_.ids[ordinal]; }
  std::string_view text(std::uint32_t ordinal) const noexcept { return parts_.texts[ordinal]; }

  const vector::VectorIndex* vectors() const noexcept { return parts_.vectors.get(); }
  const text::TextIndex* text_index() const noexcept { return parts_.text_index.get(); }
  const filter::Columns* metadata() const noexcept { return parts_.metadata.get(); }
  std::size_t memory_bytes() const noexcept;
  /// The same without vectors in a mapped file.
  std::size_t heap_bytes() const noexcept;

  /// Always `top_k` hits when that many records match (in lexical mode: match and hold a word of the query), fewer only
  /// for want of records or because of `threshold`. Throws Error(kInvalidArgument) for a request that can never work,
  /// naming the field, Error(kDimensionMismatch) for a query of another dimension, Error(kCancelled). Grain of
  /// cancellation: that of the legs, and between them.
  SearchResult search(const SearchRequest& request) const;

  /// Throws Error(kCorrupt) when a mapped file of the storage was changed in place: what was read before the call may
  /// be wrong. To be called when everything of an answer has been read.
  void check_files() const;

 private:
  StorageParts parts_;
};

}  // namespace lorekeep::store
