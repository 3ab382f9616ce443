#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/threads/work.h"
#include "vector/earlier_graph.h"
#include "vector/graph.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

struct GraphParams {
  std::size_t m = 16;                 // [kMinM, kMaxM]: neighbours per node and upper level; twice that on the base
  std::size_t ef_construction = 200;  // [1, kMaxEfConstruction]: candidates from which neighbours are chosen
  std::uint64_t seed = 100;           // for the levels

  friend bool operator==(const GraphParams&, const GraphParams&) = default;
};
inline constexpr std::size_t kMaxEfConstruction = 10000;

/// Receives the rows done and all rows, about every 1 % and at the end, increasing, from any building thread, one call
/// at a time. An exception ends the build.
using BuildProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Builds the HNSW graph (Malkov and Yashunin, 2016) of all rows, f32 or i8. With one worker the graph depends only on
/// rows, parameters and kernel set; with more, also on timing. Throws Error(kInvalidArgument) for parameters out of
/// range, kCancelled, kOutOfMemory. Grain of cancellation: a row. With `earlier`, a graph of the same parameters,
/// only rows that it does not keep are linked; where kept rows lost neighbours, neighbours of those take their places
/// (as in FreshDiskANN, Singh et al., 2021).
Graph build_graph(const VectorMatrix& rows, const GraphParams& params, const Work& work, const BuildProgress& progress,
                  const EarlierGraph* earlier = nullptr);

}  // namespace lorekeep::vector
