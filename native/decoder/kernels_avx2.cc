#include "decoder/kernel_sets.h"
#if LOREKEEP_X86_DECODER
#define LOREKEEP_TARGET __attribute__((target("avx2,fma,f16c")))

#include "decoder/avx2_register.h"

namespace lorekeep::decoder {
namespace {

struct Reg : Avx2Register {
  LOREKEEP_TARGET static Sums add_products(Sums sums, Pairs a, Pairs b) {
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
    asm("" : "+x"(sums));  // GCC would multiply all pairs first and keep the sums in memory
    return sums;
  }
};

}  // namespace
}  // namespace lorekeep::decoder

#include "decoder/kernel_bodies.h"

namespace lorekeep::decoder {

const DecoderKernels kAvx2Kernels = kernel_set("avx2");

}  // namespace lorekeep::decoder
#endif
