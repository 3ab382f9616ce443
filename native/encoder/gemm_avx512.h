// The loops that both AVX-512 multiplications share; a file that includes this defines the step.
//
// A tile of up to 12 rows and 2 panels keeps its 24 sums in registers, and each step loads 2 panels and 12 values of a.
// Panels are the outer loop: two of 384 steps stay in the first-level cache while all rows pass.
// Internal to native/encoder.
#pragma once

#include <algorithm>
#include <cstddef>

#include "encoder/kernels.h"

namespace lorekeep::encoder {

inline constexpr std::size_t kTileRows = 12;
inline constexpr std::size_t kTilePanels = 2;

/// Tile<kRows, kPanels>::run(gemm, first row, first panel) for all of a Gemm<T>. Rows are divided evenly: 16 are 8 and
/// 8, not 12 and 4, because few rows hide neither latency nor the loads of the panels.
template <class T, template <int, int> class Tile>
struct TileLoop {
  using Run = void (*)(const Gemm<T>&, std::size_t, std::size_t);

  template <int kPanels>
  static Run tile(std::size_t rows) {
    static constexpr Run kRuns[kTileRows] = {Tile<1, kPanels>::run,  Tile<2, kPanels>::run,  Tile<3, kPanels>::run,
                                             Tile<4, kPanels>::run,  Tile<5, kPanels>::run,  Tile<6, kPanels>::run,
                                             Tile<7, kPanels>::run,  Tile<8, kPanels>::run,  Tile<9, kPanels>::run,
                                             Tile<10, kPanels>::run, Tile<11, kPanels>::run, Tile<12, kPanels>::run};
    return kRuns[rows - 1];
  }

  static void run(const Gemm<T>& g) {
    if (g.rows == 0) return;
    const std::size_t blocks = (g.rows + kTileRows - 1) / kTileRows;
    for (std::size_t panel = 0; panel < g.panels; panel += kTilePanels) {
      const bool both = panel + 1 < g.panels;
      for (std::size_t block = 0; block < blocks; ++block) {
        const std::size_t begin = g.rows * block / blocks;
        const std::size_t end = g.rows * (block + 1) / blocks;
        (both ? tile<2>(end - begin) : tile<1>(end - begin))(g, begin, panel);
      }
    }
  }
};

}  // namespace lorekeep::encoder
