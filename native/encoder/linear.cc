#include "encoder/linear.h"

#include <algorithm>
#include <cmath>

#include "core/cpu/bf16.h"

namespace lorekeep::encoder {
namespace {

// A sparse weight costs about 16 times as much as one in a panel.
constexpr std::size_t kSparseShare = 32;
// Rows rounded at a time: 96 of 1,536 values are 288 KiB, which fit the second-level cache with two panels.
constexpr std::size_t kRows = 96;

// Bytes of a rounded input: bf16, or 8 bits and its share of a scale.
constexpr std::size_t kScratch = 2;

}  // namespace

Linear::Linear(std::span<const float> weights, std::span<const float> bias, std::size_t inputs, std::size_t outputs,
               Precision precision)
    : inputs_(inputs), outputs_(outputs), bias_(outputs) {
  std::fill_n(bias_.data(), outputs, 0.0f);
  std::copy(bias.begin(), bias.end(), bias_.data());
  const auto zeros = static_cast<std::size_t>(std::count(weights.begin(), weights.end(), 0.0f));
  if (weights.size() - zeros <= weights.size() / kSparseShare) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0.0f) continue;
      entries_.push_back({static_cast<std::uint32_t>(i / inputs), static_cast<std::uint32_t>(i % inputs), weights[i]});
    }
  } else if (precision == Precision::kBf16) {
    pack_bf16(weights);
  } else if (precision == Precision::kQ8) {
    pack_q8(weights);
  } else {
    pack_f32(weights);
  }
}

void Linear::pack_f32(std::span<const float> weights) {
  f32_ = Buffer<float>(weights.size());
  for (std::size_t n = 0; n < outputs_; ++n) {
    float* panel = f32_.data() + n / kLanes * inputs_ * kLanes + n % kLanes;
    for (std::size_t k = 0; k < inputs_; ++k) panel[k * kLanes] = weights[n * inputs_ + k];
  }
}

void Linear::pack_bf16(std::span<const float> weights) {
  bf16_ = Buffer<std::uint16_t>(weights.size());
  for (std::size_t n = 0; n < outputs_; ++n) {
    std::uint16_t* panel = bf16_.data() + n / kLanes * inputs_ * kLanes + n % kLanes * 2;
    for (std::size_t k = 0; k < inputs_; ++k) panel[k / 2 * 2 * kLanes + k % 2] = to_bf16(weights[n * inputs_ + k]);
  }
}

// Requantising the weights of Q8_0 files is exact, except for the last place of their scale.
void Linear::pack_q8(std::span<const float> weights) {
  const std::size_t blocks = inputs_ / kQ8Block;
  q8_ = Buffer<Q8Panel>(outputs_ / kLanes * blocks);
  for (std::size_t n = 0; n < outputs_; ++n) {
    for (std::size_t block = 0; block < blocks; ++block) {
      const float* from = weights.data() + n * inputs_ + block * kQ8Block;
      Q8Panel& panel = q8_.data()[n / kLanes * blocks + block];
      float largest = 0;
      for (std::size_t k = 0; k < kQ8Block; ++k) largest = std::max(largest, std::abs(from[k]));
      const float inverse = largest == 0 ? 0 : kMaxQuant / largest;
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < kQ8Block; ++k) {
        const auto quant = static_cast<std::int8_t>(std::lrint(from[k] * inverse));
        panel.quants[k / kQ8Group][n % kLanes][k % kQ8Group] = quant;
        sum += quant;
      }
      panel.scale[n % kLanes] = largest / kMaxQuant;
      panel.offset[n % kLanes] = -kQ8Zero * sum;
    }
  }
}

std::size_t Linear::scratch_bytes() const noexcept {
  return bf16_.size() > 0 || q8_.size() > 0 ? kRows * inputs_ * kScratch : 0;
}

void Linear::apply(const EncoderKernels& kernels, const float* in, std::size_t in_stride, std::size_t rows, float* out,
                   bool accumulate, Buffer<std::byte>& scratch) const {
  const std::size_t panels = outputs_ / kLanes;
  const std::size_t panel_stride = inputs_ * kLanes;
  if (f32_.size() > 0) {
    return kernels.gemm_f32({in, in_stride, f32_.data(), panel_stride, kLanes, bias_.data(), out, outputs_, rows,
                             inputs_, panels, accumulate});
  }
  if (bf16_.size() == 0 && q8_.size() == 0) return apply_sparse(in, in_stride, rows, out, accumulate);
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = std::min(kRows, rows - begin);
    std::byte* room = scratch.at_least(scratch_bytes());
    if (bf16_.size() > 0) {
      apply_bf16(kernels, in + begin * in_stride, in_stride, count, out + begin * outputs_, accumulate, room);
    } else {
      apply_q8(kernels, in + begin * in_stride, in_stride, count, out + begin * outputs_, accumulate, room);
    }
  }
}

void Linear::apply_bf16(const EncoderKernels& kernels, const float* in, std::size_t in_stride, std::size_t rows,
                        float* out, bool accumulate, std::byte* scratch) const {
  auto* rounded = reinterpret_cast<std::uint16_t*>(scratch);
  for (std::size_t row = 0; row < rows; ++row)
    kernels.round_bf16(in + row * in_stride, rounded + row * inputs_, inputs_);
  kernels.gemm_bf16({rounded, inputs_, bf16_.data(), inputs_ * kLanes, 2 * kLanes, bias_.data(), out, outputs_, rows,
                     inputs_, outputs_ / kLanes, accumulate});
}

void Linear::apply_q8(const EncoderKernels& kernels, const float* in, std::size_t in_stride, std::size_t rows,
                      float* out, bool accumulate, std::byte* scratch) const {
  const std::size_t blocks = inputs_ / kQ8Block;
  auto* quants = reinterpret_cast<Q8Input*>(scratch);
  for (std::size_t row = 0; row < rows; ++row) kernels.quantize_q8(in + row * in_stride, quants + row * blocks, blocks);
  kernels.gemm_q8({quants, q8_.data(), bias_.data(), out, rows, blocks, outputs_ / kLanes, accumulate});
}

void Linear::apply_sparse(const float* in, std::size_t in_stride, std::size_t rows, float* out, bool accumulate) const {
  for (std::size_t row = 0; row < rows; ++row, in += in_stride, out += outputs_) {
    for (std::size_t n = 0; n < outputs_; ++n) out[n] = (accumulate ? out[n] : 0.0f) + bias_.data()[n];
    for (const Entry& entry : entries_) out[entry.output] += entry.weight * in[entry.input];
  }
}

}  // namespace lorekeep::encoder
