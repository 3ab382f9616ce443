#include "quant/kernel_sets.h"
#if LOREKEEP_X86_QUANT
#define LOREKEEP_TARGET target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")
#define LOREKEEP_INLINE __attribute__((LOREKEEP_TARGET, always_inline)) inline
#define LOREKEEP_KERNEL __attribute__((LOREKEEP_TARGET))

#include "quant/avx512_lanes.h"

namespace lorekeep::quant {
namespace {

struct Isa : Avx512Lanes {
  static constexpr int kRows = 6;  // 12 sums of a block and 12 of all blocks, 2 panels and a value, of 32 registers
  static constexpr int kPanels = 2;
  static constexpr int kFloatRows = 10;
  static constexpr int kStreamRows = 4;
  static constexpr int kStreamPanels = 1;
  static constexpr std::size_t unpack_from(bool) { return 5; }
  static constexpr std::size_t kPrefetch = 4096;
  static constexpr bool kSplitsSigns = false;
  static constexpr bool kCentresBytes = false;
  static constexpr int tile_quant(int) { return 255; }
  static constexpr int together(int) { return 1; }

  template <int kMaxQuant>
  struct Operand {
    Bytes quants;
    LOREKEEP_INLINE Ints add_products(Ints sum, __m512i values) const {
      return _mm512_dpbusd_epi32(sum, quants, values);
    }
  };
};

}  // namespace
}  // namespace lorekeep::quant

#include "quant/tile_kernels.h"

namespace lorekeep::quant {

const QuantKernels kAvx512VnniKernels{
    .name = "avx512-vnni",
    .quantize = quantize_avx512,
    .multiply = kMultiply,
};

}  // namespace lorekeep::quant
#endif
