// The kernels, in terms of an instruction set. A file that includes this one first defines, in an anonymous namespace
// inside lorekeep::quant,
//   LOREKEEP_INLINE, LOREKEEP_KERNEL   attributes of functions that use the instructions, inlined or not
//   Isa                                vectors of 16 lanes, their operations and the sizes of tiles (as in
//                                      kernels_avx512_vnni.cc)
// and so gets separate functions. Included once per such file; lambdas are avoided, because GCC compiles them without
// the attributes of their function. Internal to native/quant.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/cpu/tile_loop.h"
#include "quant/kernels.h"
#include "quant/tile_groups.h"

namespace lorekeep::quant {
namespace {

/// A product of panels that lie `panel_bytes` apart, over some of the blocks of their rows.
struct TileProduct {
  const std::byte* weights;
  std::size_t panel_bytes;
  const ActivationBlock* blocks;  // the first block of the first row
  std::size_t blocks_stride;
  std::size_t count;  // blocks; of floats: inputs
  const float* values;
  std::size_t values_stride;
  float* out;
  std::size_t out_stride;
  std::size_t rows;
  std::size_t panels;
  std::size_t lanes;  // of the last panel
  int zero_shift;     // the logarithm of the offset added to quants, for unpacked weights
  bool go_on;         // from the sums in `out`
  // The part that is unpacked next. For each of its rows, a tile requests `ahead_bytes` of either panel.
  const std::byte* ahead;
  std::size_t ahead_panel_bytes;
  std::size_t ahead_bytes;
};

template <class Group>
struct BlockTiles {
  template <int kRows, int kPanels>
  struct Tile {
    LOREKEEP_KERNEL static void run(const TileProduct& g, std::size_t row, std::size_t panel) {
      Isa::Floats sums[kRows][kPanels];
      float* const out = g.out + row * g.out_stride + panel * kLanes;
      const std::size_t lanes = panel + kPanels == g.panels ? g.lanes : kLanes;
      start(g, out, lanes, sums);
      const Group* groups[kPanels];
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p)
        groups[p] = reinterpret_cast<const Group*>(g.weights + (panel + static_cast<std::size_t>(p)) * g.panel_bytes);
      const ActivationBlock* inputs = g.blocks + row * g.blocks_stride;
      Ahead ahead(g, row);
      for (std::size_t done = 0; done < g.count; done += Group::kBlocks) {
        for (std::size_t block = 0; block < Group::kBlocks; ++block, ++inputs) {
          prefetch(groups, block);
          ahead.request();
          add_block(g, groups, block, inputs, sums);
        }
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) ++groups[p];
      }
      finish(g, out, lanes, sums);
    }

   private:
    // Requests this tile's share of the next part, a little at each block: many requests at once delay each other.
    struct Ahead {
      LOREKEEP_INLINE Ahead(const TileProduct& g, std::size_t row)
          : at(g.ahead + row * g.ahead_bytes),
            end(at + kRows * g.ahead_bytes),
            step((kRows * g.ahead_bytes / g.count / kLine + 1) * kLine),
            panel_bytes(g.ahead_panel_bytes) {}
      LOREKEEP_INLINE void request() {
        if (at >= end) return;
        for (const std::byte* const until = at + step; at < until; at += kLine) {
          __builtin_prefetch(at, 0, 2);
          __builtin_prefetch(at + panel_bytes, 0, 2);
        }
      }
      const std::byte* at;
      const std::byte* end;
      std::size_t step;
      std::size_t panel_bytes;
    };

    using Sums = Isa::Floats[kRows][kPanels];
    using Products = Isa::Ints[kRows][kPanels];

    LOREKEEP_INLINE static void start(const TileProduct& g, const float* out, std::size_t lanes, Sums& sums) {
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) {
          sums[m][p] = Isa::zeros();
          if (g.go_on) {
            const float* from = out + static_cast<std::size_t>(m) * g.out_stride + p * kLanes;
            sums[m][p] = p + 1 < kPanels ? Isa::load_floats(from) : Isa::load_floats(from, lanes);
          }
        }
      }
    }

    LOREKEEP_INLINE static void finish(const TileProduct& g, float* out, std::size_t lanes, const Sums& sums) {
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) {
          float* to = out + static_cast<std::size_t>(m) * g.out_stride + p * kLanes;
          Isa::store_floats(to, sums[m][p], p + 1 < kPanels ? kLanes : lanes);
        }
      }
    }

    // A few rows wait for memory. Panels are adjacent, so the memory after the last is read next. Each block requests
    // its share, because many requests at once wait for each other.
    LOREKEEP_INLINE static void prefetch(const Group* const (&groups)[kPanels], std::size_t block) {
      if constexpr (kRows <= Isa::kStreamRows) {
#pragma GCC unroll 64
        for (std::size_t at = 0; at < sizeof(Group) / Group::kBlocks; at += kLine) {
#pragma GCC unroll 4
          for (int p = 0; p < kPanels; ++p)
            __builtin_prefetch(reinterpret_cast<const char*>(groups[p]) + Isa::kPrefetch +
                               block * (sizeof(Group) / Group::kBlocks) + at);
        }
      }
    }

    LOREKEEP_INLINE static const std::int8_t* values_of(const ActivationBlock* row, int step) {
      return row->quants + step * static_cast<int>(kStep);
    }

    // Sets the sums of steps kBegin to kEnd: all, or half a block.
    template <int kBegin, int kEnd, class I = Isa>
    LOREKEEP_INLINE static void sum_steps(const TileProduct& g, const Group* const (&groups)[kPanels],
                                          std::size_t block, const ActivationBlock* const (&rows)[kRows],
                                          Products& products) {
      constexpr int kTogether = std::min(I::together(Group::kMaxQuant), kEnd - kBegin);
      if constexpr (kTogether == 1) {
        start_products<kBegin, kEnd>(g, groups, block, rows, products);
        add_steps<kBegin, kEnd, I>(groups, block, rows, products);
      } else {
        typename I::Pairs pairs[kRows][kPanels];
        sum_pairs<kTogether, I>(groups, block, kBegin, rows, pairs);
        start_products<kBegin, kEnd>(g, groups, block, rows, products);
        add_widened<I>(pairs, products);
#pragma GCC unroll 8
        for (int step = kBegin + kTogether; step < kEnd; step += kTogether) {
          sum_pairs<kTogether, I>(groups, block, step, rows, pairs);
          add_widened<I>(pairs, products);
        }
      }
    }

    // Adds the products of each step at once.
    template <int kBegin, int kEnd, class I>
    LOREKEEP_INLINE static void add_steps(const Group* const (&groups)[kPanels], std::size_t block,
                                          const ActivationBlock* const (&rows)[kRows], Products& products) {
#pragma GCC unroll 8
      for (int step = kBegin; step < kEnd; ++step) {
        typename I::template Operand<Group::kMaxQuant> weights[kPanels];
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) weights[p] = operand_of_step<I>(*groups[p], block, step);
#pragma GCC unroll 16
        for (int m = 0; m < kRows; ++m) {
          const auto values = I::four(values_of(rows[m], step));
#pragma GCC unroll 4
          for (int p = 0; p < kPanels; ++p) products[m][p] = weights[p].add_products(products[m][p], values);
        }
      }
    }

    template <int kBegin, int kEnd>
    LOREKEEP_INLINE static void start_products(const TileProduct& g, const Group* const (&groups)[kPanels],
                                               std::size_t block, const ActivationBlock* const (&rows)[kRows],
                                               Products& products) {
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
        std::int32_t negated = rows[m]->negated_sum;
        if constexpr (kEnd < static_cast<int>(kSteps)) negated = rows[m]->negated_first_half;
        if constexpr (kBegin > 0) negated -= rows[m]->negated_first_half;
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) products[m][p] = first_sum(*groups[p], block, negated, g.zero_shift);
      }
    }

    // Sets the sums of pairs of kTogether steps, which fit into 16 bits.
    template <int kTogether, class I>
    LOREKEEP_INLINE static void sum_pairs(const Group* const (&groups)[kPanels], std::size_t block, int first,
                                          const ActivationBlock* const (&rows)[kRows],
                                          typename I::Pairs (&pairs)[kRows][kPanels]) {
#pragma GCC unroll 8
      for (int step = first; step < first + kTogether; ++step) {
        typename I::template Operand<Group::kMaxQuant> weights[kPanels];
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) weights[p] = operand_of_step<I>(*groups[p], block, step);
#pragma GCC unroll 16
        for (int m = 0; m < kRows; ++m) {
          const auto values = I::four(values_of(rows[m], step));
#pragma GCC unroll 4
          for (int p = 0; p < kPanels; ++p) {
            const typename I::Pairs products = weights[p].pairs(values);
            pairs[m][p] = step == first ? products : I::add_pairs(pairs[m][p], products);
          }
        }
      }
    }

    template <class I>
    LOREKEEP_INLINE static void add_widened(const typename I::Pairs (&pairs)[kRows][kPanels], Products& products) {
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) products[m][p] = I::add_widened(products[m][p], pairs[m][p]);
      }
    }

    LOREKEEP_INLINE static void add_block(const TileProduct& g, const Group* const (&groups)[kPanels],
                                          std::size_t block, const ActivationBlock* inputs, Sums& sums) {
      const ActivationBlock* rows[kRows];
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) rows[m] = inputs + static_cast<std::size_t>(m) * g.blocks_stride;
      Products products;
      if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
        sum_steps<0, kSteps / 2>(g, groups, block, rows, products);
        add_scaled<false>(groups, block, rows, products, sums);
        sum_steps<kSteps / 2, kSteps>(g, groups, block, rows, products);
        add_scaled<true>(groups, block, rows, products, sums);
      } else {
        sum_steps<0, kSteps>(g, groups, block, rows, products);
        add_scaled<false>(groups, block, rows, products, sums);
      }
    }

    template <bool kOther>
    LOREKEEP_INLINE static void add_scaled(const Group* const (&groups)[kPanels], std::size_t block,
                                           const ActivationBlock* const (&rows)[kRows], const Products& products,
                                           Sums& sums) {
      Scales scales[kPanels];
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) scales[p] = scales_of(*groups[p], block);
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
        const Isa::Floats scale = Isa::same(rows[m]->scale);
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) {
          const Isa::Floats both = Isa::mul(kOther ? scales[p].other : scales[p].scale, scale);
          sums[m][p] = Isa::add_product(Isa::from_ints(products[m][p]), both, sums[m][p]);
          if constexpr (Group::kArithmetic == Arithmetic::kMinimum)
            sums[m][p] = Isa::add_product(scales[p].other, Isa::same(rows[m]->scaled_sum), sums[m][p]);
        }
      }
    }
  };
};

/// Weights of floats: panels of [input][lane].
template <class T, bool kHalf>
struct FloatTiles {
  template <int kRows, int kPanels>
  struct Tile {
    LOREKEEP_KERNEL static void run(const TileProduct& g, std::size_t row, std::size_t panel) {
      Isa::Floats sums[kRows][kPanels];
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) sums[m][p] = Isa::zeros();
      }
      const float* values = g.values + row * g.values_stride;
      const std::byte* weights = g.weights + panel * g.panel_bytes;
      for (std::size_t k = 0; k < g.count; ++k, weights += kLanes * sizeof(T), ++values) {
        if constexpr (kRows <= Isa::kStreamRows) __builtin_prefetch(weights + Isa::kPrefetch);
        Isa::Floats of_panel[kPanels];
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) of_panel[p] = widen(weights + static_cast<std::size_t>(p) * g.panel_bytes);
#pragma GCC unroll 16
        for (int m = 0; m < kRows; ++m) {
          const Isa::Floats value = Isa::same(values[static_cast<std::size_t>(m) * g.values_stride]);
#pragma GCC unroll 4
          for (int p = 0; p < kPanels; ++p) sums[m][p] = Isa::add_product(of_panel[p], value, sums[m][p]);
        }
      }
      const std::size_t lanes = panel + kPanels == g.panels ? g.lanes : kLanes;
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
        for (int p = 0; p < kPanels; ++p) {
          float* to = g.out + (row + static_cast<std::size_t>(m)) * g.out_stride + (panel + p) * kLanes;
          Isa::store_floats(to, sums[m][p], p + 1 < kPanels ? kLanes : lanes);
        }
      }
    }

   private:
    LOREKEEP_INLINE static Isa::Floats widen(const std::byte* from) {
      if constexpr (sizeof(T) == sizeof(float)) {
        return Isa::load_floats(reinterpret_cast<const float*>(from));
      } else if constexpr (kHalf) {
        return Isa::from_halves(reinterpret_cast<const std::uint16_t*>(from));
      } else {
        return Isa::from_bf16(reinterpret_cast<const std::uint16_t*>(from));
      }
    }
  };
};

/// From this number of rows on, weights are unpacked first, a part at a time that stays in the first-level cache.
template <class Group>
constexpr std::size_t kUnpackFrom = Isa::unpack_from(requires(const Group& group) { group.high; });
constexpr std::size_t kPartBytes = std::size_t{32} << 10;

template <class Group>
LOREKEEP_KERNEL void unpack_part(const std::byte* weights, std::size_t first, std::size_t count, TileGroup<Group>* to) {
  const Group* group = reinterpret_cast<const Group*>(weights) + first / Group::kBlocks;
  for (std::size_t done = 0; done < count; done += Group::kBlocks, ++group) {
    for (std::size_t block = 0; block < Group::kBlocks; ++block, ++to) unpack_block(*group, block, *to);
  }
}

/// Makes the tiles of a part request the part after it, of the same panels or of the next ones. The last part's tiles
/// request the panels after this product: another thread may multiply them.
template <class Group>
void request_next(const TileProduct& g, std::size_t panel, std::size_t first, std::size_t most, TileProduct& part) {
  if (first >= g.count) {
    first = 0;
    panel += static_cast<std::size_t>(Isa::kPanels);
  }
  const std::size_t blocks = g.count - first < most ? g.count - first : most;
  part.ahead = g.weights + panel * g.panel_bytes + first / Group::kBlocks * sizeof(Group);
  part.ahead_panel_bytes = g.panel_bytes;
  part.ahead_bytes = (blocks * sizeof(Group) / Group::kBlocks + g.rows - 1) / g.rows;
}

template <class Group>
void multiply_unpacked(const TileProduct& g) {
  using Unpacked = TileGroup<Group>;
  constexpr std::size_t kPanels = static_cast<std::size_t>(Isa::kPanels);
  constexpr std::size_t kPartBlocks = kPartBytes / kPanels / sizeof(Unpacked) / kSubBlocks * kSubBlocks;
  Unpacked part[kPanels * kPartBlocks];
  TileProduct some = g;
  some.weights = reinterpret_cast<const std::byte*>(part);
  some.panel_bytes = kPartBlocks * sizeof(Unpacked);
  for (std::size_t panel = 0; panel < g.panels; panel += kPanels) {
    some.panels = g.panels - panel < kPanels ? g.panels - panel : kPanels;
    some.lanes = panel + some.panels == g.panels ? g.lanes : kLanes;
    some.out = g.out + panel * kLanes;
    for (std::size_t first = 0; first < g.count; first += kPartBlocks) {
      some.count = g.count - first < kPartBlocks ? g.count - first : kPartBlocks;
      some.blocks = g.blocks + first;
      some.go_on = first > 0;
      request_next<Group>(g, panel, first + some.count, kPartBlocks, some);
      for (std::size_t p = 0; p < some.panels; ++p)
        unpack_part<Group>(g.weights + (panel + p) * g.panel_bytes, first, some.count, part + p * kPartBlocks);
      TileLoop<TileProduct, BlockTiles<Unpacked>::template Tile, Isa::kRows, Isa::kPanels>::run(some);
    }
  }
}

TileProduct tile_product(const Product& g) {
  TileProduct all{};
  all.weights = g.weights;
  all.panel_bytes = g.panel_bytes;
  all.blocks = g.blocks;
  all.blocks_stride = g.blocks_stride;
  all.values = g.values;
  all.values_stride = g.values_stride;
  all.out = g.out;
  all.out_stride = g.out_stride;
  all.rows = g.rows;
  all.panels = g.panels;
  all.lanes = g.lanes;
  return all;
}

template <class Group>
void multiply_blocks(const Product& product) noexcept {
  TileProduct g = tile_product(product);
  g.count = (product.inputs / kBlock + Group::kBlocks - 1) / Group::kBlocks * Group::kBlocks;
  g.zero_shift = std::countr_zero(static_cast<unsigned>(Group::kZero));
  if (g.rows >= kUnpackFrom<Group>) return multiply_unpacked<Group>(g);
  TileLoop<TileProduct, BlockTiles<Group>::template Tile, Isa::kStreamRows, Isa::kStreamPanels>::run(g);
}

template <class T, bool kHalf>
void multiply_floats(const Product& product) noexcept {
  TileProduct g = tile_product(product);
  g.count = product.inputs;
  TileLoop<TileProduct, FloatTiles<T, kHalf>::template Tile, Isa::kFloatRows, Isa::kPanels>::run(g);
}

/// One function per format, in the order of Format.
constexpr decltype(QuantKernels::multiply) kMultiply = {
    multiply_floats<float, false>, multiply_floats<std::uint16_t, true>, multiply_floats<std::uint16_t, false>,
    multiply_blocks<GroupQ8_0>,    multiply_blocks<GroupQ4_0>,           multiply_blocks<GroupQ4_1>,
    multiply_blocks<GroupQ5_0>,    multiply_blocks<GroupQ5_1>,           multiply_blocks<GroupQ4_K>,
    multiply_blocks<GroupQ5_K>,    multiply_blocks<GroupQ6_K>,           multiply_blocks<GroupIq4Nl>};

}  // namespace
}  // namespace lorekeep::quant
