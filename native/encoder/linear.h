#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/buffer.h"
#include "encoder/kernels.h"

namespace lorekeep::encoder {

/// How the weights of a matrix are kept.
enum class Precision {
  kF32,
  kBf16,  // half the memory and, with the instruction, twice the speed; embeddings keep a cosine above 0.9999
};

/// y = W x + b for rows of x, with W packed for the kernels. A matrix that is nearly all zeros (models made by hand
/// rather than trained are) is kept as its other values, in f32, whatever the precision asked for.
class Linear {
 public:
  Linear() = default;
  /// `weights`: outputs x inputs, row-major; `bias`: empty or one value per output. Both sizes are multiples of
  /// kLanes. Throws bad_alloc.
  Linear(std::span<const float> weights, std::span<const float> bias, std::size_t inputs, std::size_t outputs,
         Precision precision);

  std::size_t inputs() const noexcept { return inputs_; }
  std::size_t outputs() const noexcept { return outputs_; }

  /// out (rows x outputs) = or += W in + b. `in` is rows x inputs, `scratch` grows as needed.
  void apply(const Kernels& kernels, const float* in, std::size_t rows, float* out, bool accumulate,
             Buffer<std::uint16_t>& scratch) const;

 private:
  struct Entry {
    std::uint32_t output;
    std::uint32_t input;
    float weight;
  };

  void pack_f32(std::span<const float> weights);
  void pack_bf16(std::span<const float> weights);
  void apply_sparse(const float* in, std::size_t rows, float* out, bool accumulate) const;

  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  Buffer<float> bias_;
  // One of the three holds the weights.
  Buffer<float> f32_;
  Buffer<std::uint16_t> bf16_;
  std::vector<Entry> entries_;
};

}  // namespace lorekeep::encoder
