// Links of an earlier index that a new one of mostly the same rows can keep.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/threads/work.h"
#include "vector/graph.h"
#include "vector/vector_matrix.h"

namespace lorekeep::vector {

/// Fewer rows are linked faster than they are compared with earlier ones.
inline constexpr std::size_t kMinReusedRows = 1024;
/// The share of rows that may be new, and the share of earlier rows that may be gone. Beyond it little time is saved.
inline constexpr double kMaxChangedShare = 0.3;

/// An earlier graph and where its nodes are among the new rows. Valid as long as the graph.
struct EarlierGraph {
  GraphView graph;
  std::vector<std::uint32_t> earlier_of;  // by row: its node in `graph`; kNoNode: to be linked again
  std::vector<std::uint32_t> row_of;      // by node of `graph`: its row; kNoNode: gone, or linked again
  std::size_t kept = 0;                   // rows whose links are kept
};

/// Compares the rows by their bytes. A kept row keeps at least half of its links on the base level. Returns nothing if
/// too many rows differ, or if there are too few rows. Polls `work.cancel` every 1,024 rows, except while it sorts.
std::optional<EarlierGraph> find_earlier(const VectorMatrix& rows, const VectorMatrix& earlier, const GraphView& graph,
                                         const Work& work);

}  // namespace lorekeep::vector
