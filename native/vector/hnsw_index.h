#pragma once

#include <memory>

#include "core/mapped_file.h"
#include "vector/codes.h"
#include "vector/graph.h"
#include "vector/graph_search.h"
#include "vector/hnsw_builder.h"
#include "vector/search_plan.h"
#include "vector/search_scratch.h"
#include "vector/sketch.h"
#include "vector/vector_index.h"

namespace lorekeep::vector {

struct HnswParams : GraphParams {
  VectorType type = VectorType::kF32;
};

/// The parts of an index, built or loaded. The graph has passed validate_graph().
struct HnswParts {
  HnswParams params;
  VectorMatrix rows;
  Codes codes;        // empty for i8 rows, and for few dimensions of f32 and f16: the walk then scores the rows
  Cells cells;        // of codes, from kLeastCelledRows rows on, in files from version 5
  Sketches sketches;  // with cells, where codes lie apart from their rows
  Graph graph;
  std::shared_ptr<const MappedFile> file;  // of the rows; null: they are in memory
};

/// Approximate search over an HNSW graph. The walk scores i8 codes where there are any, and its candidates are scored
/// again on the rows. An exact search skips rows that their codes prove too far. Where many rows match a filter, cells
/// and sketches rule most of them out.
class HnswIndex final : public VectorIndex {
 public:
  /// `rows`: row-major, any lengths; the index normalises its own copy. The graph is built on `workers` threads: the
  /// calling one and `pool`'s. With one worker the same rows, parameters and CPU kind give the same index. Throws
  /// Error(kInvalidArgument) (naming the row for NaN and infinity), kOutOfMemory, kCancelled. Grain of cancellation:
  /// 256 rows of encoding, 16 of building.
  static std::shared_ptr<const HnswIndex> build(std::span<const float> rows, std::size_t dimension,
                                                const HnswParams& params, const Work& work = {},
                                                const BuildProgress& progress = {});
  explicit HnswIndex(HnswParts parts) : parts_(std::move(parts)) {}

  std::size_t size() const noexcept override { return parts_.rows.size(); }
  std::size_t dimension() const noexcept override { return parts_.rows.dimension(); }
  VectorType type() const noexcept override { return parts_.rows.type(); }
  std::size_t memory_bytes() const noexcept override;
  std::size_t heap_bytes() const noexcept override {
    return parts_.rows.heap_bytes() + parts_.codes.matrix.heap_bytes() + parts_.cells.heap_bytes() +
           parts_.sketches.heap_bytes() + parts_.graph.heap_bytes();
  }
  std::vector<float> row(std::size_t ordinal) const override;
  void check_file() const override {
    if (parts_.file) parts_.file->check_unchanged();
  }
  const HnswParams& params() const noexcept { return parts_.params; }
  const HnswParts& parts() const noexcept { return parts_; }

  /// kAuto takes the path that costs less (search_plan.h). A walk that finds too little, or whose filter shuns the
  /// query's neighbourhood, ends in a scan of cells or of all matching rows, and the plan says so.
  SearchResult search(std::span<const float> query, const SearchOptions& options) const override;
  Bitmap to_cell_order(const Bitmap& filter, const CancelToken* cancel) const override;

 protected:
  const VectorMatrix& matrix() const noexcept override { return parts_.rows; }

 private:
  struct Task {
    std::span<const float> query;
    const SearchOptions& options;
    const PlanFacts facts;
    const std::size_t ef;  // another one than facts.width if the filter drops rows
  };

  /// Nothing when a filter drops rows and the matching ones were not reached, or not surely.
  std::vector<Scored> walk(const Task& task, SearchCounts& counts) const;
  std::vector<Scored> scan_all(const Task& task, SearchCounts& counts) const;
  /// Cells first; as soon as a walk seems to cost less than the cells left, the walk.
  std::vector<Scored> scan_cells(const Task& task, VectorPlan& plan, SearchCounts& counts) const;
  /// Scores rows that were found by their codes exactly: the k nearest come first, and rows that are certainly not
  /// among them are dropped.
  void rescore(std::span<const float> query, const Scorer& codes, std::size_t k, std::vector<Scored>& found,
               SearchCounts& counts) const;
  void score_exactly(const Scorer& rows, std::span<Scored> found, SearchCounts& counts) const;

  HnswParts parts_;
  mutable ScratchPool scratches_;
};

}  // namespace lorekeep::vector
