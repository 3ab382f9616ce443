#include "decoder/kernel_sets.h"
#if LOREKEEP_X86_DECODER
#define LOREKEEP_TARGET __attribute__((target("avx2,fma,f16c,avxvnni")))

#include "decoder/avx2_register.h"

namespace lorekeep::decoder {
namespace {

struct Reg : Avx2Register {
  LOREKEEP_TARGET static Sums add_products(Sums sums, Pairs a, Pairs b) {
    // GCC 12 copies the sums around the intrinsic, and spills some.
    asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sums) : "x"(a), "x"(b));
    return sums;
  }
};

}  // namespace
}  // namespace lorekeep::decoder

#include "decoder/kernel_bodies.h"

namespace lorekeep::decoder {

const DecoderKernels kAvxVnniKernels = kernel_set("avx-vnni");

}  // namespace lorekeep::decoder
#endif
