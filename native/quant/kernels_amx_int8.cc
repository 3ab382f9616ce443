#include "quant/kernel_sets.h"
#if LOREKEEP_AMX
#define LOREKEEP_TARGET target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include <algorithm>
#include <cstdint>

#include "core/cpu/amx_permission.h"
#include "core/cpu/cpu.h"
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

// A tile multiplies 16 rows with a panel, over the inputs that share a scale; AVX-512 scales and adds the products,
// whose 16 sums stay in registers. Both take turns product by product: a product is added when the next ones are
// multiplied, so that tiles and vectors work at the same time, and a stored tile has reached the cache before it is
// read.
constexpr std::size_t kRows = kTileRowsOfAmx;
constexpr std::size_t kAhead = 4;        // products; as many tiles hold sums
constexpr std::size_t kPartBlocks = 32;  // unpacked at a time: 20 KiB
static_assert(kLanes * kStep == kTileBytes && kPartBlocks % kSubBlocks == 0);

/// An unpacked block, with signed quants: the offset added to quants is subtracted.
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

/// The rows of a tile over some blocks of a panel, and their sums.
struct TileRows {
  const ActivationBlock* inputs;
  std::size_t inputs_stride;
  const SignedBlock* weights;
  std::size_t count;  // blocks
  float* out;
  std::size_t out_stride;
  std::size_t done;  // the first rows, whose sums stay as they are
  std::size_t lanes;
  bool go_on;  // from the sums in `out`
};

// Sets a product of 16 rows: of a block, or of half a block.
template <class Group, int kTurn>
inline void multiply_one(const TileRows& g, std::size_t index, Products& to) {
  const std::size_t block = index / kParts<Group>;
  const std::size_t step = index % kParts<Group> * kSteps / 2;
  multiply_tile<kTurn>(g.inputs[block].quants + step * kStep, g.inputs_stride * sizeof(ActivationBlock),
                       g.weights[block].quants + step, to);
}

// Adds a product to the sums, in the order that multiply.h defines.
template <class Group>
LOREKEEP_INLINE void add_one(const TileRows& g, std::size_t index, const Products& products,
                             Isa::Floats (&sums)[kRows]) {
  const std::size_t block = index / kParts<Group>;
  const bool second = kHalved<Group> && index % kParts<Group> > 0;
  const Isa::Floats scale = Isa::load_floats(second ? g.weights[block].other : g.weights[block].scale);
  const Isa::Floats other = Isa::load_floats(g.weights[block].other);
  const ActivationBlock* values = g.inputs + block;
#pragma GCC unroll 16
  for (std::size_t m = 0; m < kRows; ++m, values += g.inputs_stride) {
    sums[m] = Isa::add_product(Isa::from_ints(Isa::load_ints(products[m])), Isa::mul(scale, Isa::same(values->scale)),
                               sums[m]);
    if constexpr (Group::kArithmetic == Arithmetic::kMinimum)
      sums[m] = Isa::add_product(other, Isa::same(values->scaled_sum), sums[m]);
  }
}

template <class Group>
LOREKEEP_KERNEL void multiply_rows(const TileRows& g) {
  alignas(kLine) Products products[2 * kAhead];
  Isa::Floats sums[kRows];
#pragma GCC unroll 16
  for (std::size_t m = 0; m < kRows; ++m)
    sums[m] = g.go_on ? Isa::load_floats(g.out + m * g.out_stride, g.lanes) : Isa::zeros();
  const std::size_t count = g.count * kParts<Group>;
  multiply_one<Group, 0>(g, 0, products[0]);
  if (count > 1) multiply_one<Group, 1>(g, 1, products[1]);
  if (count > 2) multiply_one<Group, 2>(g, 2, products[2]);
  if (count > 3) multiply_one<Group, 3>(g, 3, products[3]);
  std::size_t index = 0;
  for (; index + 2 * kAhead <= count; index += kAhead) {
    Products* const now = products + index % (2 * kAhead);
    Products* const next = products + (index + kAhead) % (2 * kAhead);
    multiply_one<Group, 0>(g, index + kAhead, next[0]);
    add_one<Group>(g, index, now[0], sums);
    multiply_one<Group, 1>(g, index + kAhead + 1, next[1]);
    add_one<Group>(g, index + 1, now[1], sums);
    multiply_one<Group, 2>(g, index + kAhead + 2, next[2]);
    add_one<Group>(g, index + 2, now[2], sums);
    multiply_one<Group, 3>(g, index + kAhead + 3, next[3]);
    add_one<Group>(g, index + 3, now[3], sums);
  }
  for (; index < count; ++index) {
    if (index % kAhead == 0) {
      Products* const next = products + (index + kAhead) % (2 * kAhead);
      if (index + kAhead < count) multiply_one<Group, 0>(g, index + kAhead, next[0]);
      if (index + kAhead + 1 < count) multiply_one<Group, 1>(g, index + kAhead + 1, next[1]);
      if (index + kAhead + 2 < count) multiply_one<Group, 2>(g, index + kAhead + 2, next[2]);
    }
    add_one<Group>(g, index, products[index % (2 * kAhead)], sums);
  }
#pragma GCC unroll 16
  for (std::size_t m = 0; m < kRows; ++m) {
    if (m >= g.done) Isa::store_floats(g.out + m * g.out_stride, sums[m], g.lanes);
  }
}

// Adds the products of some blocks of a panel to the sums of all rows.
template <class Group>
void multiply_part(const Product& g, std::size_t first, std::size_t count, const SignedBlock* weights, float* out,
                   std::size_t lanes) {
  for (std::size_t begin = 0; begin < g.rows; begin += kRows) {
    // The last tile begins earlier if it is not full.
    const std::size_t tile = std::min(begin, g.rows - kRows);
    multiply_rows<Group>({g.blocks + tile * g.blocks_stride + first, g.blocks_stride, weights, count,
                          out + tile * g.out_stride, g.out_stride, begin - tile, lanes, first > 0});
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

const QuantKernels kAmxInt8Kernels{
    .name = "amx-int8",
    .quantize = quantize_avx512,
    .multiply = all_formats(std::make_index_sequence<kFormats>()),
};

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
