#include "decoder/kernel_sets.h"
#if LOREKEEP_X86_DECODER
#define LOREKEEP_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

#include "decoder/avx512_register.h"

namespace lorekeep::decoder {
namespace {

struct Reg : Avx512Register {
  LOREKEEP_TARGET static Sums add_products(Sums sums, Pairs a, Pairs b) {
    // GCC 12 copies the sums around the intrinsic, and spills some.
    asm("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
    return sums;
  }
};

}  // namespace
}  // namespace lorekeep::decoder

#include "decoder/kernel_bodies.h"

namespace lorekeep::decoder {

const DecoderKernels kAvx512VnniKernels = kernel_set("avx512-vnni");

}  // namespace lorekeep::decoder
#endif
