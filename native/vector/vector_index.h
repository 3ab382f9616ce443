// What the exact and the graph index have in common: rows in record order, searched by cosine distance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/bitmap.h"
#include "core/top_k.h"
#include "core/work.h"
#include "vector/vector_matrix.h"
#include "vector/vector_type.h"

namespace lorekeep::vector {

/// The first three as lib/result-numbers.ts reads them.
enum class SearchPath {
  kExact,  // every matching row is looked at
  kGraph,  // a walk over the graph
  kCells,  // in results only: the matching rows of the cells that may hold near ones are looked at
  kAuto,   // as an option only: the index decides
};

struct SearchOptions {
  std::size_t k = 10;                            // at least 1
  std::size_t ef = 0;                            // width of a graph search; 0: kDefaultEf or 2k; at least k is used
  const Bitmap* filter = nullptr;                // rows that may be returned, size() bits; null: all
  const Bitmap* filter_in_cell_order = nullptr;  // to_cell_order(*filter); null or empty: searches do without
  SearchPath path = SearchPath::kAuto;
  Work work = {};  // idle threads help with a long scan; cancellation is polled every 16 hops or 1024 rows
};
inline constexpr std::size_t kDefaultEf = 96;
inline constexpr std::size_t kMaxEf = 100000;
/// The width of a graph search for k hits that does not give one.
constexpr std::size_t default_ef(std::size_t k) noexcept {
  return std::max(kDefaultEf, 2 * k);
}

/// How a result was found.
struct VectorPlan {
  SearchPath path = SearchPath::kExact;  // of the branch that gave the hits; never kAuto
  std::size_t matched = 0;               // rows that the filter lets through
  std::size_t visited = 0;               // distances computed, of whatever precision and on whatever branch
  std::size_t hops = 0;                  // graph nodes expanded
  bool exact = false;                    // no other row of the index, as stored, is nearer than these
};

/// min(k, matched) hits, nearest first, ties by ordinal; a score is a cosine distance in [0, 2].
struct SearchResult {
  std::vector<Scored> hits;
  VectorPlan plan;
};

/// Immutable; any number of threads may search at once.
class VectorIndex {
 public:
  virtual ~VectorIndex() = default;

  virtual std::size_t size() const noexcept = 0;
  virtual std::size_t dimension() const noexcept = 0;
  virtual VectorType type() const noexcept = 0;
  /// Heap and mapped bytes together.
  virtual std::size_t memory_bytes() const noexcept = 0;
  /// Of these, the bytes that only freeing gives back: without those of a mapped file.
  virtual std::size_t heap_bytes() const noexcept = 0;
  /// The L2-normalised row as it is stored (zero vectors stay zero). Throws Error(kInvalidArgument) beyond size().
  virtual std::vector<float> row(std::size_t ordinal) const = 0;
  /// Throws Error(kCorrupt) when a mapped file of the index was changed in place: what was found before the call may be
  /// wrong. To be called after a search, before its result is used.
  virtual void check_file() const {}

  /// `query` may have any length. Throws Error(kDimensionMismatch), kInvalidArgument (NaN, infinity, k 0, a filter of
  /// another size), kCancelled.
  virtual SearchResult search(std::span<const float> query, const SearchOptions& options) const = 0;

  /// The filter in the order in which searches by cells read rows: makes later searches faster, and takes about as long
  /// as one (0.1 ms per 100,000 rows). Empty where no search by cells would use it. Throws Error(kInvalidArgument) for
  /// a filter of another size.
  virtual Bitmap to_cell_order(const Bitmap& filter, const CancelToken* cancel) const;

  /// distances[i] is that of row ordinals[i], bit for bit what search() gives it. Throws as search() does for the
  /// query. Precondition: ordinals < size(), as many distances as ordinals.
  void score(std::span<const float> query, std::span<const std::uint32_t> ordinals, std::span<float> distances) const;

  /// Searches row-major queries, side by side on the threads of `options.work` when there are several; results in query
  /// order. `taken`, if given, becomes the time that one thread would have needed.
  std::vector<SearchResult> search_many(std::span<const float> queries, const SearchOptions& options,
                                        CancelToken::Clock::duration* taken = nullptr) const;

 protected:
  /// Throws as search() does for what is wrong with the options; returns how many rows may be returned.
  std::size_t check_options(const SearchOptions& options) const;
  void check_filter(const Bitmap& filter) const;
  void check_ordinal(std::size_t ordinal) const;
  /// What distances are of.
  virtual const VectorMatrix& matrix() const noexcept = 0;
};

}  // namespace lorekeep::vector
