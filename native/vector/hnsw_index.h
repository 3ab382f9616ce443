#pragma once

#include <memory>

#include "vector/codes.h"
#include "vector/graph.h"
#include "vector/graph_search.h"
#include "vector/hnsw_builder.h"
#include "vector/search_scratch.h"
#include "vector/sketch.h"
#include "vector/vector_index.h"

namespace lorekeep::vector {

struct HnswParams : GraphParams {
  VectorType type = VectorType::kF32;
};

/// What an index is made of, wherever it comes from. The graph has passed validate_graph.
struct HnswParts {
  HnswParams params;
  VectorMatrix rows;
  Codes codes;        // empty for i8 rows, and for few dimensions of f32 and f16: the walk then scores the rows
  Cells cells;        // of codes, from kLeastCelledRows rows on, in files from version 5
  Sketches sketches;  // with cells, where codes lie apart from their rows
  Graph graph;
};

/// Approximate search over an HNSW graph. The walk scores i8 codes where there are any, and what it finds is scored
/// again on the rows; an exact search skips rows that their codes prove too far. Of many rows that a filter lets
/// through most are ruled out by their cells and sketches.
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
  const HnswParams& params() const noexcept { return parts_.params; }
  const HnswParts& parts() const noexcept { return parts_; }

  /// kAuto takes the branch that costs less (search_plan.h); a walk that finds too little, or whose filter shuns the
  /// query's neighbourhood, ends in a search of cells or of all that matches, and the plan says so.
  SearchResult search(std::span<const float> query, const SearchOptions& options) const override;
  Bitmap to_cell_order(const Bitmap& filter, const CancelToken* cancel) const override;

 protected:
  const VectorMatrix& matrix() const noexcept override { return parts_.rows; }

 private:
  /// A width other than `ef` says that the filter drops rows. Then nothing is given when what it lets through was not
  /// reached, or not surely.
  std::vector<Scored> walk(std::span<const float> query, const SearchOptions& options, std::size_t matched,
                           std::size_t ef, std::size_t width, SearchCounts& counts) const;
  /// Whether a search of rows of which so many match may be one of cells.
  bool celled(std::size_t matched) const noexcept {
    return !parts_.cells.empty() && matched >= kLeastCelledRows && matched < size();
  }
  std::vector<Scored> scan_all(std::span<const float> query, const SearchOptions& options, SearchCounts& counts) const;
  /// Of a plan under a filter that lets many rows through: cells first, and as soon as a walk seems to cost less than
  /// what they leave, that.
  std::vector<Scored> search_cells(std::span<const float> query, const SearchOptions& options, std::size_t ef,
                                   std::size_t width, VectorPlan& plan, SearchCounts& counts) const;
  /// Puts the k nearest of what a walk over codes found, judged by rows, in front, and drops rows that are certainly
  /// not among them.
  void rescore(std::span<const float> query, const Scorer& codes, std::size_t k, std::vector<Scored>& found,
               SearchCounts& counts) const;
  void score_exactly(const Scorer& rows, std::span<Scored> found, SearchCounts& counts) const;

  HnswParts parts_;
  mutable ScratchPool scratches_;
};

}  // namespace lorekeep::vector
