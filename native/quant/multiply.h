// Products of a packed matrix and rows of activations.
#pragma once

#include <cstddef>

#include "quant/activations.h"
#include "quant/kernels.h"
#include "quant/packed_matrix.h"

namespace lorekeep::quant {

struct Range {
  std::size_t begin;
  std::size_t end;
};

/// Where a range of outputs may begin.
inline constexpr std::size_t kOutputGrain = 16;

/// out[row * stride + output] = the sum over the inputs of weight * input, for the given rows and outputs; nothing else
/// is written. outputs.begin is a multiple of kOutputGrain, outputs.end too or weights.outputs(). Threads may compute
/// disjoint ranges at the same time.
///
/// The bits of a result depend only on the row and the weights, not on the other rows, the ranges or the processor.
/// Blocks are added in order, from 0, with fused multiply-adds (fma) in f32; p is an exact integer, the sum of products
/// of a block's quants, and s the scale of the activations:
///   scale * (q - zero):   sum = fma(p, scale * s, sum)        Q6_K: for either half of a block
///   scale * q + minimum:  that, then sum = fma(minimum, activations' scaled_sum, sum)
///   floats:               sum = fma(weight, input, sum)       for every input
void multiply(const PackedMatrix& weights, const Activations& activations, Range rows, Range outputs, float* out,
              std::size_t stride) noexcept;
/// The same with a chosen set of kernels.
void multiply(const PackedMatrix& weights, const Activations& activations, Range rows, Range outputs, float* out,
              std::size_t stride, const QuantKernels& kernels) noexcept;

}  // namespace lorekeep::quant
