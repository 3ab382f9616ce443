// An embedded string storage in memory: records and their indexes.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/files/mapped_file.h"
#include "core/values/text_arena.h"
#include "core/values/text_table.h"
#include "filter/columns.h"
#include "store/background.h"
#include "store/field_texts.h"
#include "store/search.h"
#include "text/text_index.h"
#include "vector/vector_index.h"

namespace lorekeep::store {

/// The parts of a storage. All parts describe the same records in the same order; the ordinal is the position.
struct StorageParts {
  TextArena ids;                                       // unique, not empty, UTF-8
  TextArena texts;                                     // one per id
  std::shared_ptr<const vector::VectorIndex> vectors;  // null: no dense search
  std::shared_ptr<const text::TextIndex> text_index;   // null: no lexical search
  std::shared_ptr<const filter::Columns> metadata;     // null: no fields, no filter
  std::shared_ptr<const MappedFile> file;              // mapped file with ids and texts; null: they are in memory
  bool ids_checked = false;                            // the reader has checked that ids are unique and not empty
};

/// Immutable and thread-safe.
class Storage {
 public:
  /// Throws Error(kInvalidArgument) if there are no records, a part has another number of records, or an id is empty or
  /// occurs twice (naming both positions).
  explicit Storage(StorageParts parts);

  std::size_t size() const noexcept { return parts_.ids.size(); }
  /// Precondition: ordinal < size(). The views are valid as long as the storage.
  std::string_view id(std::uint32_t ordinal) const noexcept { return parts_.ids[ordinal]; }
  std::string_view text(std::uint32_t ordinal) const noexcept { return parts_.texts[ordinal]; }

  const vector::VectorIndex* vectors() const noexcept { return parts_.vectors.get(); }
  const text::TextIndex* text_index() const noexcept { return parts_.text_index.get(); }
  const StorageParts& parts() const noexcept { return parts_; }
  const filter::Columns* metadata() const noexcept { return parts_.metadata.get(); }
  /// Indexes of string fields.
  FieldTexts& field_texts() const noexcept { return field_texts_; }
  /// Returns the ordinal of an id. The first call enters all ids into a table: some 50 ns per record.
  std::optional<std::uint32_t> find(std::string_view id) const;
  /// Made on first use. Precondition: vectors() is set.
  const BackgroundSample& background() const;
  std::size_t memory_bytes() const noexcept;
  /// Like memory_bytes(), without vectors in a mapped file.
  std::size_t heap_bytes() const noexcept;

  /// Returns `top_k` hits; fewer only if fewer records match (in lexical mode: match and contain a word of the query)
  /// or because of `threshold`. Throws Error(kInvalidArgument) naming the invalid field, Error(kDimensionMismatch) for
  /// a query of another dimension, Error(kCancelled). Grain of cancellation: as in the legs, and between them.
  SearchResult search(const SearchRequest& request) const;

  /// Throws Error(kCorrupt) if a mapped file of the storage was changed in place: data read before the call may be
  /// wrong. Call it after reading an answer.
  void check_files() const;
  /// Returns body()'s result, for a body that reads the records. Throws as check_files(), also instead of its error.
  template <class Body>
  auto checked(Body&& body) const {
    auto result = blaming([this] { check_files(); }, body);
    check_files();
    return result;
  }

 private:
  struct LazyBackground {
    std::once_flag once;
    std::unique_ptr<const BackgroundSample> sample;
  };

  struct LazyIds {
    std::once_flag once;
    TextTable table;
  };

  StorageParts parts_;
  std::unique_ptr<LazyIds> ids_ = std::make_unique<LazyIds>();
  mutable FieldTexts field_texts_;
  std::unique_ptr<LazyBackground> background_ = std::make_unique<LazyBackground>();
};

}  // namespace lorekeep::store
