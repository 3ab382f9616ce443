// Records and their indexes, never changed: a part of one storage or of several of its versions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/files/mapped_file.h"
#include "core/values/text_arena.h"
#include "core/values/text_table.h"
#include "filter/columns.h"
#include "store/field_texts.h"
#include "text/text_index.h"
#include "vector/vector_index.h"

namespace lorekeep::store {

/// All parts describe the same records in the same order. A record's position is its row.
struct StorageParts {
  TextArena ids;                                       // unique, not empty, UTF-8
  TextArena texts;                                     // one per id
  std::shared_ptr<const vector::VectorIndex> vectors;  // null: no dense search
  std::shared_ptr<const text::TextIndex> text_index;   // null: no lexical search
  std::shared_ptr<const filter::Columns> metadata;     // null: no fields, no filter
  std::shared_ptr<const MappedFile> file;              // mapped file with ids and texts; null: they are in memory
  bool ids_checked = false;                            // the reader has checked that ids are unique and not empty
};

/// Immutable and thread-safe. May be empty.
class Segment {
 public:
  /// Throws Error(kInvalidArgument) if a part has another number of records, or an id is empty or occurs twice (naming
  /// both positions).
  explicit Segment(StorageParts parts);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::size_t size() const noexcept { return parts_.ids.size(); }
  /// Precondition: row < size(). The views are valid as long as the segment.
  std::string_view id(std::uint32_t row) const noexcept { return parts_.ids[row]; }
  std::string_view text(std::uint32_t row) const noexcept { return parts_.texts[row]; }
  const StorageParts& parts() const noexcept { return parts_; }
  const vector::VectorIndex* vectors() const noexcept { return parts_.vectors.get(); }
  const text::TextIndex* text_index() const noexcept { return parts_.text_index.get(); }
  const filter::Columns* metadata() const noexcept { return parts_.metadata.get(); }
  /// Indexes of string fields.
  FieldTexts& field_texts() const noexcept { return field_texts_; }

  /// Returns the row of an id. The first call enters all ids into a table: some 50 ns per record.
  std::optional<std::uint32_t> find(std::string_view id) const;
  std::size_t memory_bytes() const noexcept;
  /// Like memory_bytes(), without vectors in a mapped file.
  std::size_t heap_bytes() const noexcept;
  /// Overwrites ids, texts, words, strings of fields and vectors before their memory is freed, unless they are in a
  /// mapped file, or another object shares an index.
  void wipe_when_freed() const noexcept { wipe_.store(true); }
  /// Throws Error(kCorrupt) if a mapped file of the segment was changed in place.
  void check_files() const;

 private:
  struct LazyIds {
    std::once_flag once;
    TextTable table;
  };

  StorageParts parts_;
  std::unique_ptr<LazyIds> ids_ = std::make_unique<LazyIds>();
  mutable FieldTexts field_texts_;
  mutable std::atomic<bool> wipe_{false};
};

}  // namespace lorekeep::store
