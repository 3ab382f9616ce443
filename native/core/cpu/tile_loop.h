// The loop over the tiles of a multiplication. A tile keeps the sums of some rows and panels in registers; each step
// loads those panels once and one value of each row.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace lorekeep {

/// Calls Tile<kRows, kPanels>::run(gemm, first row, first panel) over a whole product, with at most kMaxRows rows and
/// kMaxPanels (1 or 2) panels per tile. Panels are the outer loop: two of 384 steps stay in the first-level cache for
/// all rows. Rows are divided evenly, 16 into 8 and 8, not 12 and 4, because few rows hide neither latency nor the
/// loads of the panels.
template <class Product, template <int, int> class Tile, int kMaxRows, int kMaxPanels>
class TileLoop {
 public:
  static void run(const Product& g) {
    if (g.rows == 0) return;
    const std::size_t blocks = (g.rows + kMaxRows - 1) / kMaxRows;
    std::size_t panel = 0;
    for (; panel + kMaxPanels <= g.panels; panel += kMaxPanels) run_rows<kMaxPanels>(g, panel, blocks);
    for (; panel < g.panels; ++panel) run_rows<1>(g, panel, blocks);
  }

 private:
  using Run = void (*)(const Product&, std::size_t, std::size_t);

  /// Indexed by the number of rows minus one.
  template <int kPanels, int... kRows>
  static constexpr std::array<Run, kMaxRows> tiles(std::integer_sequence<int, kRows...>) {
    return {Tile<kRows + 1, kPanels>::run...};
  }

  template <int kPanels>
  static void run_rows(const Product& g, std::size_t panel, std::size_t blocks) {
    static constexpr auto kTiles = tiles<kPanels>(std::make_integer_sequence<int, kMaxRows>());
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::size_t begin = g.rows * block / blocks;
      const std::size_t end = g.rows * (block + 1) / blocks;
      kTiles[end - begin - 1](g, begin, panel);
    }
  }
};

}  // namespace lorekeep
