#pragma once

#include <memory>
#include <optional>

#include "core/files/mapped_file.h"
#include "vector/calibration.h"
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

  friend bool operator==(const HnswParams&, const HnswParams&) = default;
};

/// The parts of an index, built or loaded. Precondition: the graph has passed validate_graph().
struct HnswParts {
  HnswParams params;
  VectorMatrix rows;
  Codes codes;        // empty for i8 rows, and for f32 and f16 of few dimensions: searches then score the rows
  Cells cells;        // of the codes, from kMinCelledRows rows on, in files from version 5
  Sketches sketches;  // with cells, if codes are separate from the rows
  Graph graph;
  Calibration calibration = {};            // in files from version 6
  std::size_t linked = 0;                  // rows that a build linked; the others have the links of an earlier index
  std::shared_ptr<const MappedFile> file;  // mapped file with the rows; null: they are in memory
};

/// Approximate search over an HNSW graph. A graph search scores i8 codes if there are any; its candidates are scored
/// again on the rows. An exact search skips rows whose codes prove them too far. If many rows match a filter, cells and
/// sketches rule most of them out.
class HnswIndex final : public VectorIndex {
 public:
  /// `rows`: row-major, any lengths; the index normalises its own copy. With one worker, the same rows, parameters and
  /// kind of CPU give the same index. Throws Error(kInvalidArgument) (naming the row for NaN and infinity),
  /// kOutOfMemory, kCancelled. Grain of cancellation: 256 rows of encoding, 16 of building. If `earlier` has mostly the
  /// same rows and the same parameters, its links are kept, unless searches would then have to be wider than in it, or
  /// its file was changed since it was loaded.
  static std::shared_ptr<const HnswIndex> build(std::span<const float> rows, std::size_t dimension,
                                                const HnswParams& params, const Work& work = {},
                                                const BuildProgress& progress = {}, const HnswIndex* earlier = nullptr);
  /// The same for rows that are encoded.
  static std::shared_ptr<const HnswIndex> build(VectorMatrix rows, const HnswParams& params, const Work& work = {},
                                                const BuildProgress& progress = {}, const HnswIndex* earlier = nullptr);
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

  /// kAuto takes the cheaper path (search_plan.h). A graph search that finds too little, or whose filter matches few
  /// rows near the query, is followed by a scan of cells or of all matching rows; the plan reports this path.
  SearchResult search(std::span<const float> query, const SearchOptions& asked) const override;
  Bitmap to_cell_order(const Bitmap& filter, const CancelToken* cancel) const override;
  void wipe() const noexcept override {
    parts_.rows.wipe();
    parts_.codes.matrix.wipe();
  }
  const VectorMatrix& matrix() const noexcept override { return parts_.rows; }

 private:
  /// `wide`: the rows for the graph if these are short and of f16, else empty.
  static std::shared_ptr<const HnswIndex> build(HnswParts parts, const VectorMatrix& wide, const Work& work,
                                                const BuildProgress& progress, const HnswIndex* earlier);
  struct Task {
    std::span<const float> query;
    const SearchOptions& options;
    const PlanFacts facts;
    const Calibration& calibration;
    const std::size_t ef;  // facts.width may be greater, because the filter drops rows
    const float breadth;   // factor of the margins of a cell scan
  };

  /// Searches the graph. Returns nothing if a filter drops rows and the matching ones were not reliably reached.
  /// `reach`: see VectorPlan.
  std::optional<std::vector<Scored>> walk(const Task& task, SearchCounts& counts, float& reach) const;
  std::vector<Scored> scan_all(const Task& task, SearchCounts& counts) const;
  /// Scans cells, and changes to a graph search if it seems cheaper than the remaining cells. Sets the path to kExact
  /// if its estimates cannot be trusted.
  std::vector<Scored> scan_cells(const Task& task, VectorPlan& plan, SearchCounts& counts) const;
  /// Scores rows found by their codes exactly. Puts the k nearest first and drops rows that are certainly not among
  /// them or beyond the limit.
  void rescore(const Task& task, const Scorer& codes, std::vector<Scored>& found, SearchCounts& counts) const;
  void score_exactly(const Scorer& rows, std::span<Scored> found, SearchCounts& counts) const;

  HnswParts parts_;
  mutable ScratchPool scratches_;
};

}  // namespace lorekeep::vector
