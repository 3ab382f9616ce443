#include "quant/kernel_sets.h"
#if LOREKEEP_X86_QUANT
#define LOREKEEP_TARGET target("avx2,fma,f16c,avxvnni")
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include "quant/avx2_lanes.h"

namespace lorekeep::quant {
namespace {

struct Isa : Avx2Lanes {
  static constexpr int kRows = 3;  // 6 sums of a block and 6 of all blocks, a panel and a value, of 16 registers
  static constexpr int kPanels = 1;
  static constexpr int kFloatRows = 5;
  static constexpr int kStreamRows = 3;
  static constexpr int kStreamPanels = 1;
  static constexpr std::size_t unpack_from(bool) { return 4; }
  static constexpr std::size_t kPrefetch = 4096;
  static constexpr bool kSplitsSigns = false;
  static constexpr bool kCentresBytes = false;
  static constexpr int tile_quant(int) { return 255; }
  static constexpr int together(int) { return 1; }

  template <int kMaxQuant>
  struct Operand {
    Bytes quants;
    LOREKEEP_INLINE Ints add_products(Ints sum, __m256i values) const {
      return {{_mm256_dpbusd_avx_epi32(sum.v[0], quants.v[0], values),
               _mm256_dpbusd_avx_epi32(sum.v[1], quants.v[1], values)}};
    }
  };
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_kernels.h"

namespace lorekeep::quant {

const QuantKernels kAvxVnniKernels{
    .name = "avx-vnni",
    .quantize = quantize_avx2,
    .multiply = kMultiply,
};

}  // namespace lorekeep::quant
#endif
