#include "store/segment_merge.h"

#include <algorithm>
#include <utility>

#include "filter/columns_builder.h"
#include "vector/flat_index.h"

namespace lorekeep::store {
namespace {

/// Fewer rows are scanned faster without codes.
constexpr std::size_t kMinCodedRows = 32;
constexpr std::uint32_t kGrain = 1024;                    // records
constexpr std::size_t kTextGrain = std::size_t{1} << 20;  // bytes of their texts

/// Calls visit(segment, row) for each record of a merge.
template <class Visit>
void for_each_record(std::span<const MergedPart> parts, const Work& work, Visit&& visit) {
  std::size_t bytes = 0;
  for (const MergedPart& part : parts) {
    for (std::uint32_t row = 0; row < part.segment->size(); ++row) {
      if (row % kGrain == 0 || bytes >= kTextGrain) {
        bytes = 0;
        work.check();
      }
      if (part.rows != nullptr && !part.rows->test(row)) continue;
      bytes += part.segment->text(row).size();
      visit(*part.segment, row);
    }
  }
}

/// Copies ids and texts. What is reserved for them fits, so that nothing is moved.
void copy_texts(std::span<const MergedPart> parts, const Work& work, StorageParts& made) {
  std::size_t ids = 0;
  std::size_t texts = 0;
  for_each_record(parts, work, [&](const Segment& segment, std::uint32_t row) {
    ids += segment.id(row).size();
    texts += segment.text(row).size();
  });
  made.ids.reserve(ids);
  made.texts.reserve(texts);
  for_each_record(parts, work, [&](const Segment& segment, std::uint32_t row) {
    made.ids.append(segment.id(row));
    made.texts.append(segment.text(row));
  });
  made.ids.shrink_to_fit();
  made.texts.shrink_to_fit();
}

vector::VectorMatrix gather(std::span<const MergedPart> parts, std::size_t count, const Work& work) {
  const vector::VectorIndex& first = *parts.front().segment->vectors();
  auto rows = vector::VectorMatrix::allocate(first.type(), count, first.dimension());
  std::size_t next = 0;
  for_each_record(parts, work, [&](const Segment& segment, std::uint32_t row) {
    rows.copy(next++, segment.vectors()->matrix(), row);
  });
  return rows;
}

std::shared_ptr<const filter::Columns> join_columns(std::span<const MergedPart> parts, const Work& work) {
  filter::ColumnsBuilder builder(parts.front().segment->metadata()->shared_schema());
  for_each_record(parts, work, [&](const Segment& segment, std::uint32_t row) {
    builder.begin_record(segment.id(row));
    for (std::size_t field = 0; field < segment.metadata()->schema().size(); ++field) {
      if (const auto value = segment.metadata()->value(row, field)) builder.set(field, *value);
    }
  });
  return std::make_shared<const filter::Columns>(std::move(builder).build());
}

/// Returns the vector index of the part with the most records in the merge.
const vector::VectorIndex* largest_index(std::span<const MergedPart> parts) {
  const auto largest = std::max_element(parts.begin(), parts.end(), [](const MergedPart& a, const MergedPart& b) {
    return a.segment->size() < b.segment->size();
  });
  return largest->segment->vectors();
}

}  // namespace

SegmentKind kind_of(const Storage& storage) {
  SegmentKind kind;
  if (storage.vectors() == nullptr) return kind;
  const auto* const graph = dynamic_cast<const vector::HnswIndex*>(storage.vectors());
  kind.graph = graph != nullptr;
  if (graph != nullptr) kind.params = graph->params();
  return kind;
}

std::shared_ptr<const vector::VectorIndex> index_rows(vector::VectorMatrix rows, const SegmentKind& kind,
                                                      const Work& work, const vector::VectorIndex* earlier) {
  if (rows.size() >= kMinGraphRows && kind.graph) {
    const auto* const graph = dynamic_cast<const vector::HnswIndex*>(earlier);
    return vector::HnswIndex::build(std::move(rows), kind.params, work, {}, graph);
  }
  if (rows.size() >= kMinCodedRows) return vector::FlatIndex::with_codes(std::move(rows), work);
  return std::make_shared<const vector::FlatIndex>(std::move(rows));
}

std::shared_ptr<const Segment> merge_segments(std::span<const MergedPart> parts, const SegmentKind& kind,
                                              const Work& work) {
  const Segment& first = *parts.front().segment;
  StorageParts made;
  made.ids_checked = true;
  copy_texts(parts, work, made);
  if (first.metadata() != nullptr) made.metadata = join_columns(parts, work);
  if (first.text_index() != nullptr) {
    made.text_index = text::TextIndex::build(made.texts.size(), [&made](std::size_t row) { return made.texts[row]; },
                                             {first.text_index()->tokenizer(), work});
  }
  if (first.vectors() != nullptr) {
    made.vectors = index_rows(gather(parts, made.ids.size(), work), kind, work, largest_index(parts));
  }
  for (const MergedPart& part : parts) part.segment->check_files();
  return std::make_shared<const Segment>(std::move(made));
}

std::shared_ptr<const Segment> empty_segment(const Segment& like, const SegmentKind& kind) {
  const Bitmap none(like.size());
  const MergedPart part{std::shared_ptr<const Segment>(std::shared_ptr<void>(), &like), &none};
  return merge_segments({&part, 1}, kind, {});
}

}  // namespace lorekeep::store
