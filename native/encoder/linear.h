#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/values/buffer.h"
#include "encoder/kernels.h"

namespace lorekeep::encoder {

/// y = W x + b for rows of x, with W packed for the kernels. A matrix of nearly all zeros (in models made by hand) is
/// stored sparse, in f32, whatever precision was requested.
class Linear {
 public:
  Linear() = default;
  /// `weights`: outputs x inputs, row-major; `bias`: empty or one value per output. Both sizes are multiples of
  /// kLanes, and inputs of kQ8Block for kQ8. Throws Error(kOutOfMemory).
  Linear(std::span<const float> weights, std::span<const float> bias, std::size_t inputs, std::size_t outputs,
         Precision precision);

  std::size_t inputs() const noexcept { return inputs_; }
  std::size_t outputs() const noexcept { return outputs_; }

  /// out (rows x outputs) = or += W in + b. `in` is rows x inputs, `scratch` grows as needed.
  void apply(const EncoderKernels& kernels, const float* in, std::size_t rows, float* out, bool accumulate,
             Buffer<std::byte>& scratch) const {
    apply(kernels, in, inputs_, rows, out, accumulate, scratch);
  }
  /// The same with rows of `in` that begin `in_stride` values apart, and may overlap.
  void apply(const EncoderKernels& kernels, const float* in, std::size_t in_stride, std::size_t rows, float* out,
             bool accumulate, Buffer<std::byte>& scratch) const;
  /// Bytes of scratch that apply() needs.
  std::size_t scratch_bytes() const noexcept;

 private:
  struct Entry {
    std::uint32_t output;
    std::uint32_t input;
    float weight;
  };

  void pack_f32(std::span<const float> weights);
  void pack_bf16(std::span<const float> weights);
  void pack_q8(std::span<const float> weights);
  void apply_bf16(const EncoderKernels& kernels, const float* in, std::size_t in_stride, std::size_t rows, float* out,
                  bool accumulate, std::byte* scratch) const;
  void apply_q8(const EncoderKernels& kernels, const float* in, std::size_t in_stride, std::size_t rows, float* out,
                bool accumulate, std::byte* scratch) const;
  void apply_sparse(const float* in, std::size_t in_stride, std::size_t rows, float* out, bool accumulate) const;

  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  Buffer<float> bias_;
  // One of the four holds the weights.
  Buffer<float> f32_;
  Buffer<std::uint16_t> bf16_;
  Buffer<Q8Panel> q8_;
  std::vector<Entry> entries_;
};

}  // namespace lorekeep::encoder
