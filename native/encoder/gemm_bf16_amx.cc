#include "encoder/kernel_sets.h"
#if LOREKEEP_AMX

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/cpu/amx_permission.h"
#include "core/cpu/bf16.h"
#include "core/cpu/cpu.h"

namespace lorekeep::encoder {
namespace {

constexpr std::size_t kSteps = kTileBytes / sizeof(std::uint16_t);  // steps of the sum in one tile of a
constexpr std::size_t kPanelTile = kSteps * kLanes;                 // values of a panel for these steps
constexpr std::size_t kMaxRowTiles = 2;
constexpr std::size_t kWide = 4;  // panels per single tile of rows

// Computes kRowTiles x kPanels tiles. Tiles 0 to 3 hold sums; 4, 5 rows of a; 6, 7 panels. Two by two needs as many
// loads as products. A single tile of rows also has four sums, because a product is ready only after three others have
// started. Sums start from the bias (its row loaded 16 times), or from c, to which the bias was added.
template <int kRowTiles, int kPanels>
class Block {
 public:
  Block(const Gemm<std::uint16_t>& g, std::size_t row, std::size_t rows, std::size_t panel)
      : g_(g),
        a_(g.a + row * g.a_stride),
        b_(g.b + panel * g.panel_stride),
        bias_(g.bias == nullptr ? nullptr : g.bias + panel * kLanes),
        c_(g.c + row * g.c_stride + panel * kLanes),
        rows_(rows) {}

  void run() {
    start<0, 0>();
    const std::size_t whole = g_.depth / kSteps * kSteps;
    for (std::size_t k = 0; k < whole; k += kSteps)
      step(a_ + k, g_.a_stride * sizeof(std::uint16_t), b_ + k * kLanes, g_.panel_stride);
    if (whole < g_.depth) last_step(whole);
    finish<0, 0>();
  }

 private:
  template <int kRow, int kPanel>
  static constexpr int kSum = kRow * 2 + kPanel;

  template <int kRow, int kPanel>
  void start() {
    const std::size_t stride = g_.c_stride * sizeof(float);
    if (g_.accumulate) {
      tile_load<kSum<kRow, kPanel>>(c_ + kRow * kTileRowsOfAmx * g_.c_stride + kPanel * kLanes, stride);
    } else if (bias_ != nullptr) {
      tile_load<kSum<kRow, kPanel>>(bias_ + kPanel * kLanes, 0);
    } else {
      tile_zero<kSum<kRow, kPanel>>();
    }
    if constexpr (kPanel + 1 < kPanels) {
      start<kRow, kPanel + 1>();
    } else if constexpr (kRow + 1 < kRowTiles) {
      start<kRow + 1, 0>();
    }
  }

  template <int kRow, int kPanel>
  void finish() {
    tile_store<kSum<kRow, kPanel>>(c_ + kRow * kTileRowsOfAmx * g_.c_stride + kPanel * kLanes,
                                   g_.c_stride * sizeof(float));
    if constexpr (kPanel + 1 < kPanels) {
      finish<kRow, kPanel + 1>();
    } else if constexpr (kRow + 1 < kRowTiles) {
      finish<kRow + 1, 0>();
    }
  }

  static void step(const std::uint16_t* a, std::size_t a_stride, const std::uint16_t* b, std::size_t panel_stride) {
    tile_load<4>(a, a_stride);
    if constexpr (kRowTiles == 2)
      tile_load<5>(reinterpret_cast<const std::byte*>(a) + kTileRowsOfAmx * a_stride, a_stride);
    panels<0>(b, panel_stride);
  }

  template <int kPanel>
  static void panels(const std::uint16_t* b, std::size_t panel_stride) {
    constexpr int kTile = 6 + kPanel % 2;
    tile_load<kTile>(b + kPanel * panel_stride, kTileBytes);
    tile_dot_bf16<kSum<0, kPanel>, 4, kTile>();
    if constexpr (kRowTiles == 2) tile_dot_bf16<kSum<1, kPanel>, 5, kTile>();
    if constexpr (kPanel + 1 < kPanels) panels<kPanel + 1>(b, panel_stride);
  }

  // Pads a partial last tile with zeros.
  void last_step(std::size_t whole) const {
    alignas(64) std::uint16_t a[kMaxRowTiles * kTileRowsOfAmx * kSteps] = {};
    alignas(64) std::uint16_t b[kPanels * kPanelTile] = {};
    const std::size_t left = g_.depth - whole;
    for (std::size_t m = 0; m < rows_; ++m) std::copy_n(a_ + m * g_.a_stride + whole, left, a + m * kSteps);
    for (std::size_t p = 0; p < kPanels; ++p)
      std::copy_n(b_ + p * g_.panel_stride + whole * kLanes, left * kLanes, b + p * kPanelTile);
    step(a, kTileBytes, b, kPanelTile);
  }

  const Gemm<std::uint16_t>& g_;
  const std::uint16_t* a_;
  const std::uint16_t* b_;
  const float* bias_;
  float* c_;
  std::size_t rows_;
};

void configure(std::size_t first_rows, std::size_t second_rows) {
  TileConfig config;
  config.palette = 1;
  const auto set = [&config](int tile, std::size_t rows) {
    config.rows[tile] = static_cast<std::uint8_t>(rows);
    config.row_bytes[tile] = rows == 0 ? 0 : kTileBytes;
  };
  const bool two = second_rows > 0;
  set(0, first_rows);
  set(1, first_rows);
  set(2, two ? second_rows : first_rows);
  set(3, two ? second_rows : first_rows);
  set(4, first_rows);
  set(5, second_rows);
  set(6, kTileRowsOfAmx);
  set(7, kTileRowsOfAmx);
  TileScope::configure(config);
}

template <int kRowTiles, int kPanels>
void run_panels(const Gemm<std::uint16_t>& g, std::size_t begin, std::size_t end, std::size_t rows, std::size_t panel) {
  for (std::size_t row = begin; row < end; row += rows) Block<kRowTiles, kPanels>(g, row, rows, panel).run();
}

// Computes rows begin to end, in blocks of `rows`, for all panels. Panels are the outer loop as in tile_loop.h.
void run_rows(const Gemm<std::uint16_t>& g, std::size_t begin, std::size_t end, std::size_t rows) {
  const std::size_t first = std::min(rows, kTileRowsOfAmx);
  configure(first, rows - first);
  std::size_t panel = 0;
  if (rows > kTileRowsOfAmx) {
    for (; panel + 2 <= g.panels; panel += 2) run_panels<2, 2>(g, begin, end, rows, panel);
    for (; panel < g.panels; ++panel) run_panels<2, 1>(g, begin, end, rows, panel);
    return;
  }
  for (; panel + kWide <= g.panels; panel += kWide) run_panels<1, kWide>(g, begin, end, rows, panel);
  for (; panel < g.panels; ++panel) run_panels<1, 1>(g, begin, end, rows, panel);
}

// c += bias. Done before any tile is loaded from c, because a tile load waits for pending stores to reach the cache.
__attribute__((target("avx512f"))) void add_bias(const Gemm<std::uint16_t>& g) {
  for (std::size_t m = 0; m < g.rows; ++m) {
    float* row = g.c + m * g.c_stride;
    for (std::size_t n = 0; n < g.panels * kLanes; n += kLanes)
      _mm512_storeu_ps(row + n, _mm512_add_ps(_mm512_loadu_ps(row + n), _mm512_loadu_ps(g.bias + n)));
  }
}

}  // namespace

void gemm_bf16_amx(const Gemm<std::uint16_t>& gemm) {
  if (gemm.rows == 0) return;
  constexpr std::size_t kBlock = kMaxRowTiles * kTileRowsOfAmx;
  const std::size_t whole = gemm.rows / kBlock * kBlock;
  if (gemm.accumulate && gemm.bias != nullptr) add_bias(gemm);
  const TileScope tiles;
  if (whole > 0) run_rows(gemm, 0, whole, kBlock);
  if (whole < gemm.rows) run_rows(gemm, whole, gemm.rows, gemm.rows - whole);
}

bool amx_bf16_product_is_right() noexcept {
  constexpr std::size_t kRows = 19;
  constexpr std::size_t kDepth = 48;
  constexpr std::size_t kWidth = 3 * kLanes;
  std::uint16_t a[kRows * kDepth];
  std::uint16_t b[kWidth * kDepth];
  float found[kRows * kWidth] = {};
  float expected[kRows * kWidth] = {};
  for (std::size_t i = 0; i < kRows * kDepth; ++i) a[i] = to_bf16(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < kWidth * kDepth; ++i) b[i] = to_bf16(static_cast<float>(i % 11) - 5);
  Gemm<std::uint16_t> gemm{a,     kDepth, b,     kDepth * kLanes, 2 * kLanes,      nullptr,
                           found, kWidth, kRows, kDepth,          kWidth / kLanes, false};
  gemm_bf16_amx(gemm);
  gemm.c = expected;
  kScalarKernels.gemm_bf16(gemm);
  for (std::size_t i = 0; i < kRows * kWidth; ++i) {
    if (found[i] != expected[i]) return false;  // small integers: exact
  }
  return true;
}

bool amx_bf16_permitted() noexcept {
  static const bool permitted = (usable_features() & kAmxBf16) != 0 && amx_permitted(amx_bf16_product_is_right);
  return permitted;
}

}  // namespace lorekeep::encoder
#endif
