#include "decoder/kernel_sets.h"
#if LOREKEEP_X86_DECODER
#define LOREKEEP_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

#include "decoder/avx512_register.h"

namespace lorekeep::decoder {
namespace {

struct Reg : Avx512Register {
  LOREKEEP_TARGET static Sums add_products(Sums sums, Pairs a, Pairs b) {
    return _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
  }
};

}  // namespace
}  // namespace lorekeep::decoder

#include "decoder/kernel_bodies.h"

namespace lorekeep::decoder {

const DecoderKernels kAvx512Kernels = kernel_set("avx512");

}  // namespace lorekeep::decoder
#endif
