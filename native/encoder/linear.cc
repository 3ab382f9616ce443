#include "encoder/linear.h"

#include <algorithm>

#include "encoder/bf16.h"

namespace lorekeep::encoder {
namespace {

// A weight on its own costs some 16 times as much as one in a panel.
constexpr std::size_t kSparseShare = 32;
// Rows rounded at a time: 96 of 1,536 values are 288 KiB, which the second-level cache holds beside two panels.
constexpr std::size_t kRows = 96;

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

void Linear::apply(const Kernels& kernels, const float* in, std::size_t rows, float* out, bool accumulate,
                   Buffer<std::uint16_t>& scratch) const {
  const std::size_t panels = outputs_ / kLanes;
  const std::size_t panel_stride = inputs_ * kLanes;
  if (f32_.size() > 0) {
    return kernels.gemm_f32({in, inputs_, f32_.data(), panel_stride, kLanes, bias_.data(), out, outputs_, rows, inputs_,
                             panels, accumulate});
  }
  if (bf16_.size() == 0) return apply_sparse(in, rows, out, accumulate);
  for (std::size_t begin = 0; begin < rows; begin += kRows) {
    const std::size_t count = std::min(kRows, rows - begin);
    std::uint16_t* rounded = scratch.at_least(kRows * inputs_);
    kernels.round_bf16(in + begin * inputs_, rounded, count * inputs_);
    kernels.gemm_bf16({rounded, inputs_, bf16_.data(), panel_stride, 2 * kLanes, bias_.data(), out + begin * outputs_,
                       outputs_, count, inputs_, panels, accumulate});
  }
}

void Linear::apply_sparse(const float* in, std::size_t rows, float* out, bool accumulate) const {
  for (std::size_t row = 0; row < rows; ++row, in += inputs_, out += outputs_) {
    for (std::size_t n = 0; n < outputs_; ++n) out[n] = (accumulate ? out[n] : 0.0f) + bias_.data()[n];
    for (const Entry& entry : entries_) out[entry.output] += entry.weight * in[entry.input];
  }
}

}  // namespace lorekeep::encoder
