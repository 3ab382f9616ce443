#include "quant/kernel_sets.h"
#if LOREKEEP_AMX
#define LOREKEEP_TARGET target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include <algorithm>
#include <cstdint>

#include "core/amx_permission.h"
#include "core/cpu.h"
#include "quant/avx512_lanes.h"

namespace lorekeep::quant {
namespace {

struct Isa : Avx512Lanes {
  static constexpr bool kSplitsSigns = false;
  static constexpr bool kCentresBytes = false;
  static constexpr int tile_quant(int most) { return most; }
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_groups.h"

namespace lorekeep::quant {
namespace {

// A tile multiplies 16 rows with a panel, over the inputs that share a scale; AVX-512 scales and adds the products.
// Eight blocks are multiplied before they are added, so that tiles and vectors work at the same time.
constexpr std::size_t kRows = kTileRowsOfAmx;
constexpr std::size_t kRowsAtOnce = 8;  // sums in registers
constexpr std::size_t kBlocksAtOnce = 8;
constexpr std::size_t kPartBlocks = 32;  // unpacked at a time: 20 KiB
static_assert(kLanes * kStep == kTileBytes && kRows % kRowsAtOnce == 0 && kPartBlocks % kSubBlocks == 0);

/// An unpacked block, with signed quants: what is added to quants is subtracted.
struct alignas(kLine) SignedBlock {
  Step quants[kSteps];
  float scale[kLanes];
  float other[kLanes];
};

/// Products of rows and lanes: of a block, or of half a block.
using Products = std::int32_t[kRows][kLanes];

template <class Group>
constexpr bool kHalved = Group::kArithmetic == Arithmetic::kHalves;
/// Products per block.
template <class Group>
constexpr std::size_t kParts = kHalved<Group> ? 2 : 1;

// Tiles 0 to 3 hold sums, 4 and 5 rows of activations, 6 and 7 weights.
template <class Group>
void configure() {
  constexpr auto kSteps8 = static_cast<std::uint8_t>(kSteps / kParts<Group>);
  TileConfig config;
  config.palette = 1;
  for (int tile = 0; tile < 8; ++tile) {
    const bool inputs = tile == 4 || tile == 5;
    config.rows[tile] = tile < 6 ? kRows : kSteps8;
    config.row_bytes[tile] = inputs ? kSteps8 * kStep : kTileBytes;
  }
  TileScope::configure(config);
}

template <class Group>
LOREKEEP_KERNEL void unpack_part(const std::byte* panel, std::size_t first, std::size_t count, SignedBlock* to) {
  const Group* group = reinterpret_cast<const Group*>(panel) + first / Group::kBlocks;
  const __m512i zero = _mm512_set1_epi8(static_cast<char>(Group::kZero));
  for (std::size_t done = 0; done < count; done += Group::kBlocks, ++group) {
    for (std::size_t block = 0; block < Group::kBlocks; ++block, ++to) {
#pragma GCC unroll 8
      for (int step = 0; step < static_cast<int>(kSteps); ++step)
        Isa::store(to->quants[step], _mm512_sub_epi8(quants_of_step(*group, block, step), zero));
      const Scales scales = scales_of(*group, block);
      Isa::store_floats(to->scale, scales.scale, kLanes);
      Isa::store_floats(to->other, scales.other, kLanes);
    }
  }
}

template <int kTurn>
void multiply_tile(const std::int8_t* inputs, std::size_t stride, const Step* weights, Products& to) {
  constexpr int kInputs = 4 + kTurn % 2;
  constexpr int kWeights = 6 + kTurn % 2;
  tile_zero<kTurn>();
  tile_load<kInputs>(inputs, stride);
  tile_load<kWeights>(weights, kTileBytes);
  tile_dot_bytes<kTurn, kInputs, kWeights>();
  tile_store<kTurn>(to, sizeof to[0]);
}

// Sets the products of `count` blocks of 16 rows, of which `inputs` is the first.
template <class Group>
void multiply_blocks(const ActivationBlock* inputs, std::size_t stride, const SignedBlock* weights, std::size_t count,
                     Products* to) {
  const auto one = [=]<int kTurn>(std::size_t index) {
    const std::size_t block = index / kParts<Group>;
    const std::size_t step = index % kParts<Group> * kSteps / 2;
    multiply_tile<kTurn>(inputs[block].quants + step * kStep, stride, weights[block].quants + step, to[index]);
  };
  std::size_t index = 0;
  for (; index + 4 <= count * kParts<Group>; index += 4) {
    one.template operator()<0>(index);
    one.template operator()<1>(index + 1);
    one.template operator()<2>(index + 2);
    one.template operator()<3>(index + 3);
  }
  for (; index < count * kParts<Group>; ++index) one.template operator()<0>(index);
}

/// kRowsAtOnce rows of a tile, and their sums.
struct SomeRows {
  const ActivationBlock* inputs;
  std::size_t inputs_stride;
  float* out;
  std::size_t out_stride;
  std::size_t done;  // the first rows, whose sums stay as they are
  std::size_t lanes;
  bool go_on;  // from the sums in `out`
};

// Adds the products of `count` blocks in order, as multiply.h has it. `row` is the place of the first row in its tile.
template <class Group>
LOREKEEP_KERNEL void add_blocks(const SomeRows& some, const SignedBlock* weights, std::size_t count,
                                const Products* products, std::size_t row) {
  Isa::Floats sums[kRowsAtOnce];
#pragma GCC unroll 8
  for (std::size_t m = 0; m < kRowsAtOnce; ++m)
    sums[m] = some.go_on ? Isa::load_floats(some.out + m * some.out_stride, some.lanes) : Isa::zeros();
  for (std::size_t block = 0; block < count; ++block, products += kParts<Group>) {
    const Isa::Floats scale = Isa::load_floats(weights[block].scale);
    const Isa::Floats other = Isa::load_floats(weights[block].other);
#pragma GCC unroll 8
    for (std::size_t m = 0; m < kRowsAtOnce; ++m) {
      const ActivationBlock& values = some.inputs[m * some.inputs_stride + block];
      const Isa::Floats input_scale = Isa::same(values.scale);
      sums[m] =
          Isa::add_product(Isa::from_ints(Isa::load_ints(products[0][row + m])), Isa::mul(scale, input_scale), sums[m]);
      if constexpr (kHalved<Group>) {
        sums[m] = Isa::add_product(Isa::from_ints(Isa::load_ints(products[1][row + m])), Isa::mul(other, input_scale),
                                   sums[m]);
      } else if constexpr (Group::kArithmetic == Arithmetic::kMinimum) {
        sums[m] = Isa::add_product(other, Isa::same(values.scaled_sum), sums[m]);
      }
    }
  }
#pragma GCC unroll 8
  for (std::size_t m = 0; m < kRowsAtOnce; ++m) {
    if (m >= some.done) Isa::store_floats(some.out + m * some.out_stride, sums[m], some.lanes);
  }
}

// Adds the products of some blocks of a panel to the sums of all rows.
template <class Group>
void multiply_part(const Product& g, std::size_t first, std::size_t count, const SignedBlock* weights, float* out,
                   std::size_t lanes) {
  alignas(kLine) Products products[kBlocksAtOnce * kParts<Group>];
  for (std::size_t begin = 0; begin < g.rows; begin += kRows) {
    // The last tile begins earlier if it is not full.
    const std::size_t tile = std::min(begin, g.rows - kRows);
    const std::size_t done = begin - tile;
    for (std::size_t block = 0; block < count; block += kBlocksAtOnce) {
      const std::size_t some_blocks = std::min(kBlocksAtOnce, count - block);
      const ActivationBlock* const inputs = g.blocks + tile * g.blocks_stride + first + block;
      multiply_blocks<Group>(inputs, g.blocks_stride * sizeof(ActivationBlock), weights + block, some_blocks, products);
      for (std::size_t row = done / kRowsAtOnce * kRowsAtOnce; row < kRows; row += kRowsAtOnce) {
        const SomeRows some{inputs + row * g.blocks_stride,
                            g.blocks_stride,
                            out + (tile + row) * g.out_stride,
                            g.out_stride,
                            done > row ? done - row : 0,
                            lanes,
                            first + block > 0};
        add_blocks<Group>(some, weights + block, some_blocks, products, row);
      }
    }
  }
}

template <class Group>
void multiply_panels(const Product& g) {
  const std::size_t blocks = (g.inputs / kBlock + Group::kBlocks - 1) / Group::kBlocks * Group::kBlocks;
  SignedBlock part[kPartBlocks];
  const TileScope tiles;
  configure<Group>();
  for (std::size_t panel = 0; panel < g.panels; ++panel) {
    const std::size_t lanes = panel + 1 == g.panels ? g.lanes : kLanes;
    for (std::size_t first = 0; first < blocks; first += kPartBlocks) {
      const std::size_t count = std::min(kPartBlocks, blocks - first);
      unpack_part<Group>(g.weights + panel * g.panel_bytes, first, count, part);
      multiply_part<Group>(g, first, count, part, g.out + panel * kLanes, lanes);
    }
  }
}

// Fewer rows than a tile has would leave it idle for the most part, and floats need no tiles.
template <Format kFormat>
void multiply(const Product& product) noexcept {
  if constexpr (!is_float(kFormat)) {
    if (product.rows >= kRows)
      return with_group(kFormat, [&product]<class Group>() { multiply_panels<Group>(product); });
  }
  kAvx512VnniKernels.multiply[static_cast<std::size_t>(kFormat)](product);
}

template <std::size_t... kFormat>
constexpr decltype(QuantKernels::multiply) all_formats(std::index_sequence<kFormat...>) {
  return {multiply<static_cast<Format>(kFormat)>...};
}

}  // namespace

const QuantKernels kAmxInt8Kernels{"amx-int8", quantize_avx512, all_formats(std::make_index_sequence<kFormats>())};

bool amx_int8_product_is_right() noexcept {
  constexpr std::size_t kTrialRows = kRows + 3;
  GroupQ8_0 weights[2];
  ActivationBlock rows[kTrialRows][2];
  float found[kTrialRows][2 * kLanes];
  float expected[kTrialRows][2 * kLanes];
  unsigned number = 0;
  for (GroupQ8_0& group : weights) {
    for (auto& block : group.quants) {
      for (auto& step : block) {
        for (auto& lane : step) {
          for (std::uint8_t& quant : lane) quant = static_cast<std::uint8_t>(number += 37);
        }
      }
    }
    for (auto& scales : group.scale) std::fill_n(scales, kLanes, std::uint16_t{0x3400});  // 1/4
  }
  for (auto& row : rows) {
    for (ActivationBlock& block : row) {
      block = {};
      for (std::int8_t& quant : block.quants)
        block.negated_sum -= quant = static_cast<std::int8_t>((number += 41) % 255 - 127u);
      block.scale = 0.5f;
    }
  }
  Product product{reinterpret_cast<const std::byte*>(weights),
                  sizeof weights[0],
                  rows[0],
                  2,
                  nullptr,
                  0,
                  found[0],
                  2 * kLanes,
                  kTrialRows,
                  2 * kBlock,
                  2,
                  kLanes};
  kAmxInt8Kernels.multiply[static_cast<std::size_t>(Format::kQ8_0)](product);
  product.out = expected[0];
  kScalarKernels.multiply[static_cast<std::size_t>(Format::kQ8_0)](product);
  return std::equal(found[0], found[0] + kTrialRows * 2 * kLanes, expected[0]);
}

bool amx_int8_permitted() noexcept {
  static const bool permitted = (usable_features() & kAmxInt8) != 0 && amx_permitted(amx_int8_product_is_right);
  return permitted;
}

}  // namespace lorekeep::quant
#endif
