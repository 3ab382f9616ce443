// The interface of the exact and the graph index: rows in record order, searched by cosine distance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/threads/work.h"
#include "core/values/bitmap.h"
#include "core/values/top_k.h"
#include "vector/vector_matrix.h"
#include "vector/vector_type.h"

namespace lorekeep::vector {

enum class SearchPath {
  kExact,  // scan every matching row
  kGraph,  // search the graph
  kCells,  // only in results: the matching rows of the nearest cells were scanned
  kAuto,   // only as an option: the index decides
};

struct Calibration;
inline constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

struct SearchOptions {
  std::size_t k = 10;                            // at least 1
  std::size_t ef = 0;                            // breadth of the search, at least k; 0: as calibrated for usual_ef
  std::size_t usual_ef = 0;                      // 0: default_ef(k)
  const Bitmap* filter = nullptr;                // candidate rows, size() bits; null: all
  const Bitmap* filter_in_cell_order = nullptr;  // to_cell_order(*filter); optional: null or empty
  /// The filter leaves out rows here and there, such as removed ones: paths are chosen as without a filter.
  bool mostly = false;
  /// Rows of all indexes that are searched as one collection, without removed ones; 0: this index is searched alone.
  std::size_t collection = 0;
  /// Rows farther than this may be left out of the hits.
  float limit = std::numeric_limits<float>::infinity();
  /// VectorPlan::reach of another index of the collection: a walk need not go farther.
  float horizon = std::numeric_limits<float>::infinity();
  SearchPath path = SearchPath::kAuto;
  const Calibration* calibration = nullptr;  // to try in place of the index's own
  std::uint32_t without = kNoRow;  // a row that the search leaves out, so that its vector can be a query like any other
  Work work = {};                  // idle threads share a long scan; cancellation is polled every 16 hops or 1024 rows
};
inline constexpr std::size_t kDefaultEf = 96;
inline constexpr std::size_t kMaxEf = 100000;
/// Returns the width of a graph search for k hits in an index whose graph needs no more (calibration.h).
/// With another `ef`, margins of cell scans grow with the root of their ratio.
constexpr std::size_t default_ef(std::size_t k) noexcept {
  return std::max(kDefaultEf, 2 * k);
}

/// How a search was executed.
struct VectorPlan {
  SearchPath path = SearchPath::kExact;  // of the step that returned the hits; never kAuto
  std::size_t matched = 0;               // rows that match the filter
  std::size_t visited = 0;               // distances computed, of any precision, in all steps
  std::size_t hops = 0;                  // graph nodes expanded
  bool exact = false;                    // the hits are the true nearest of the stored rows
  /// The distance up to which a walk expanded nodes; infinity on other paths.
  float reach = std::numeric_limits<float>::infinity();
};

/// min(k, matched) hits, fewer only because of SearchOptions::limit, nearest first, ties by ordinal; a score is a
/// cosine distance in [0, 2].
struct SearchResult {
  std::vector<Scored> hits;
  VectorPlan plan;
};

/// Immutable and thread-safe.
class VectorIndex {
 public:
  virtual ~VectorIndex() = default;

  virtual std::size_t size() const noexcept = 0;
  virtual std::size_t dimension() const noexcept = 0;
  virtual VectorType type() const noexcept = 0;
  /// Heap and mapped bytes together.
  virtual std::size_t memory_bytes() const noexcept = 0;
  /// Heap bytes, without mapped files.
  virtual std::size_t heap_bytes() const noexcept = 0;
  /// Returns the stored, L2-normalised row (zero vectors stay zero). Throws Error(kInvalidArgument) beyond size().
  virtual std::vector<float> row(std::size_t ordinal) const = 0;
  /// Throws Error(kCorrupt) if a mapped file of the index was changed in place: earlier results may be wrong. Call it
  /// after a search, before using its result.
  virtual void check_file() const {}

  /// Overwrites rows and codes, unless they are in a mapped file. Nothing else may be called afterwards.
  virtual void wipe() const noexcept = 0;

  /// `query` may have any length. Throws Error(kDimensionMismatch), kInvalidArgument (NaN, infinity, k 0, a filter of
  /// another size), kCancelled.
  virtual SearchResult search(std::span<const float> query, const SearchOptions& options) const = 0;

  /// Returns the filter in the order in which cell scans read rows, which speeds later searches up. Takes about as long
  /// as one search (0.1 ms per 100,000 rows). Empty if no cell scan would use it. Throws Error(kInvalidArgument) for a
  /// filter of another size.
  virtual Bitmap to_cell_order(const Bitmap& filter, const CancelToken* cancel) const;

  /// Sets distances[i] to the distance of row ordinals[i], identical to the bit to search(). Throws as search() does
  /// for the query. Precondition: ordinals < size(), as many distances as ordinals.
  void score(std::span<const float> query, std::span<const std::uint32_t> ordinals, std::span<float> distances) const;

  /// The vectors that define distances.
  virtual const VectorMatrix& matrix() const noexcept = 0;

  /// Searches row-major queries in parallel on the threads of `options.work`; results are in query order. Sets `taken`,
  /// if given, to the time that one thread would have needed.
  std::vector<SearchResult> search_many(std::span<const float> queries, const SearchOptions& options,
                                        CancelToken::Clock::duration* taken = nullptr) const;

 protected:
  /// Returns the number of hits that a scan needs so that leave_out() leaves k.
  static std::size_t hits_with(const SearchOptions& options) noexcept {
    return options.k + (options.without == kNoRow ? 0 : 1);
  }
  static void leave_out(const SearchOptions& options, std::vector<Scored>& hits);
  /// Throws as search() for invalid options; returns the number of matching rows.
  std::size_t check_options(const SearchOptions& options) const;
  void check_filter(const Bitmap& filter) const;
  void check_ordinal(std::size_t ordinal) const;
};

}  // namespace lorekeep::vector
