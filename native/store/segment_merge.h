// Writes the records of some parts as one segment without removed records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/work.h"
#include "store/storage.h"
#include "vector/hnsw_index.h"

namespace lorekeep::store {

/// Segments of at least this many records have a graph: fewer are scanned about as fast.
inline constexpr std::size_t kMinGraphRows = 3072;

/// How segments are made. The same for all segments of a storage.
struct SegmentKind {
  vector::HnswParams params;
  bool graph = true;  // false: no segment has a graph, because the first one had none
};

/// Returns how the segments of a storage are made, from its first vector index.
SegmentKind kind_of(const Storage& storage);

/// Makes the vector index of a segment. `earlier`: an index whose links may be kept; may be null.
std::shared_ptr<const vector::VectorIndex> index_rows(vector::VectorMatrix rows, const SegmentKind& kind,
                                                      const Work& work, const vector::VectorIndex* earlier);

/// Records of a part that go into the merged segment: live ones, or those in `rows` if it is set.
struct MergedPart {
  std::shared_ptr<const Segment> segment;
  const Bitmap* rows = nullptr;  // null: all

  std::size_t size() const noexcept { return rows != nullptr ? rows->count() : segment->size(); }
};

/// Returns a segment of the records in their order. Vectors are copied to the bit. Throws Error(kCorrupt) if a mapped
/// file was changed in place, kOutOfMemory, kCancelled. Grain of cancellation: 1024 records, and as the indexes'
/// builds.
std::shared_ptr<const Segment> merge_segments(std::span<const MergedPart> parts, const SegmentKind& kind,
                                              const Work& work);

/// Returns a segment without records, of the same fields and kinds of indexes.
std::shared_ptr<const Segment> empty_segment(const Segment& like, const SegmentKind& kind);

}  // namespace lorekeep::store
