#pragma once

#include <cstddef>
#include <cstdint>

#include "core/values/buffer.h"

namespace lorekeep::quant {

struct QuantKernels;

/// The quant of the input of the largest magnitude in its block.
inline constexpr float kMaxActivation = 127;

/// 32 inputs of a row: input = scale * quant.
struct alignas(16) ActivationBlock {
  std::int8_t quants[32];  // -kMaxActivation to kMaxActivation
  float scale;             // the largest magnitude / kMaxActivation
  float scaled_sum;        // scale * the sum of the quants
  std::int32_t negated_sum;
  std::int32_t negated_first_half;  // minus the sum of the first 16 quants

  /// Sets the scale and the sums, given the largest magnitude and the sums of the first 16 quants and of all.
  void set_sums(float largest, std::int32_t first_half, std::int32_t sum) noexcept {
    scale = largest / kMaxActivation;
    scaled_sum = scale * static_cast<float>(sum);
    negated_sum = -sum;
    negated_first_half = -first_half;
  }
};

/// Rows of inputs, quantised once for all matrices that multiply them. Rows are independent: a row's blocks do not
/// depend on the others. Inputs should be finite; others give unspecified outputs of their row only.
class Activations {
 public:
  /// Takes `count` rows of `inputs` values, `stride` values apart, which must stay valid and unchanged while they are
  /// multiplied (matrices of floats read them). quantize() must follow. Grows the memory as needed; throws
  /// Error(kOutOfMemory).
  void reset(const float* rows, std::size_t inputs, std::size_t stride, std::size_t count);
  /// Quantises rows `begin` to `end`. Several threads may do so for disjoint rows. Needed by quantised matrices only.
  void quantize(std::size_t begin, std::size_t end) noexcept;
  void quantize(std::size_t begin, std::size_t end, const QuantKernels& kernels) noexcept;

  /// Writes the rounding errors of a quantised row, value - scale * quant: inputs() values.
  void remainder(std::size_t index, float* to) const noexcept;

  std::size_t inputs() const noexcept { return inputs_; }
  std::size_t rows() const noexcept { return count_; }
  /// Blocks per row, including blocks of zeros that fill the last group of a panel.
  std::size_t blocks() const noexcept { return blocks_; }
  const ActivationBlock* row(std::size_t index) const noexcept { return quantized_.data() + index * blocks_stride_; }
  /// Blocks from a row to the next, at least blocks().
  std::size_t blocks_stride() const noexcept { return blocks_stride_; }
  const float* values(std::size_t index) const noexcept { return rows_ + index * stride_; }
  std::size_t stride() const noexcept { return stride_; }

 private:
  const float* rows_ = nullptr;
  std::size_t inputs_ = 0;
  std::size_t stride_ = 0;
  std::size_t count_ = 0;
  std::size_t blocks_ = 0;
  std::size_t blocks_stride_ = 0;
  Buffer<ActivationBlock> quantized_;
};

}  // namespace lorekeep::quant
