// One version of an embedded string storage in memory: records and their indexes. See
// docs/internals/changing-storages.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/background.h"
#include "store/search.h"
#include "store/segment.h"
#include "store/tombstones.h"
#include "text/text_collection.h"

namespace lorekeep::store {

/// A segment of a storage. Rows of a storage count the records of all segments, removed ones included, and begin at
/// multiples of 64 in each; ordinals count the others.
struct Part {
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const Tombstones> removed;  // null: none
  std::uint32_t first_row = 0;
  std::uint32_t first_ordinal = 0;

  /// Number of records that are not removed.
  std::size_t size() const noexcept { return removed ? removed->live_rows() : segment->size(); }
  /// Null: nothing is removed.
  const Bitmap* live() const noexcept { return removed ? &removed->live() : nullptr; }
};

/// Where a record is.
struct Place {
  const Segment& segment;
  std::uint32_t row;  // in the segment
};

/// The texts of a string field in all parts.
struct FieldCollection {
  std::vector<std::shared_ptr<const text::TextIndex>> indexes;  // one per part
  text::TextCollection collection;
};

/// Immutable and thread-safe. Its records look like those of one segment: ordinal i is the i-th record.
class Storage {
 public:
  /// Throws Error(kInvalidArgument) if there are no records, and as Segment.
  explicit Storage(StorageParts parts);
  /// `parts`: segments and tombstones, at least one, with equal kinds of indexes and the same fields; all may be empty.
  /// Throws Error(kInvalidArgument) for too many records.
  Storage(std::vector<Part> parts, std::uint64_t version);

  std::uint64_t version() const noexcept { return version_; }
  const std::vector<Part>& parts() const noexcept { return parts_; }
  /// Whether nothing was changed or everything is merged: rows are ordinals.
  bool plain() const noexcept { return plain_; }

  std::size_t size() const noexcept { return size_; }
  /// One more than the last row.
  std::uint32_t rows() const noexcept;
  /// Precondition: ordinal < size(). The views are valid as long as the storage.
  std::string_view id(std::uint32_t ordinal) const noexcept { return id_at(place(ordinal)); }
  std::string_view text(std::uint32_t ordinal) const noexcept { return text_at(place(ordinal)); }
  Place place(std::uint32_t ordinal) const noexcept {
    return plain_ ? Place{*parts_.front().segment, ordinal} : place_of_row(row_of(ordinal));
  }
  Place place_of_row(std::uint32_t row) const noexcept {
    const Part& part = parts_[part_of_row(row)];
    return {*part.segment, row - part.first_row};
  }
  /// Precondition: ordinal < size(); row is of a record that is not removed. Both ascend together.
  std::uint32_t row_of(std::uint32_t ordinal) const noexcept;
  std::uint32_t ordinal_of(std::uint32_t row) const noexcept;
  std::size_t part_of_row(std::uint32_t row) const noexcept;

  /// Vector index, text index and fields of the first part; null if there are none. The other parts have the same
  /// dimension, tokenizer and fields.
  const vector::VectorIndex* vectors() const noexcept { return parts_.front().segment->vectors(); }
  const text::TextIndex* text_index() const noexcept { return parts_.front().segment->text_index(); }
  const filter::Columns* metadata() const noexcept { return parts_.front().segment->metadata(); }
  /// The words of all records. Precondition: text_index() is set.
  const text::TextCollection& words() const noexcept { return *words_; }
  /// The words of a string field. Made on first use. Throws as FieldTexts::index().
  std::shared_ptr<const FieldCollection> field_words(const std::string& field, const Work& work) const;

  /// Returns the ordinal of an id. The first call enters the ids into tables: some 50 ns per record.
  std::optional<std::uint32_t> find(std::string_view id) const;
  /// The row of an id.
  std::optional<std::uint32_t> find_row(std::string_view id) const;
  /// Returns the embedding of a record. Preconditions: vectors() is set, ordinal < size().
  std::vector<float> embedding(std::uint32_t ordinal) const;
  /// Sets distances[i] to the distance of a row. Throws as vector::VectorIndex::score().
  void score(std::span<const float> query, std::span<const std::uint32_t> rows, std::span<float> distances) const;
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
  struct Lazy {
    std::once_flag background_once;
    std::unique_ptr<const BackgroundSample> background;
    std::mutex fields_mutex;
    std::map<std::string, std::shared_ptr<const FieldCollection>> fields;
  };

  static std::string_view id_at(Place place) noexcept { return place.segment.id(place.row); }
  static std::string_view text_at(Place place) noexcept { return place.segment.text(place.row); }
  void collect_words();

  std::vector<Part> parts_;
  std::uint64_t version_ = 0;
  std::size_t size_ = 0;
  bool plain_ = true;
  std::optional<text::TextCollection> words_;
  std::unique_ptr<Lazy> lazy_ = std::make_unique<Lazy>();
};

}  // namespace lorekeep::store
