#include "quant/activations.h"

#include <algorithm>

#include "quant/groups.h"
#include "quant/kernels.h"

namespace lorekeep::quant {
namespace {

// Rows that lie a multiple of this apart meet in a few sets of the first-level cache, which cannot hold a tile of them.
constexpr std::size_t kColliding = 1024;
constexpr std::size_t kApart = 5;  // blocks: 16 rows, 240 bytes on each, spread over all sets

}  // namespace

void Activations::reset(const float* rows, std::size_t inputs, std::size_t stride, std::size_t count) {
  rows_ = rows;
  inputs_ = inputs;
  stride_ = stride;
  count_ = count;
  // Even, for the formats with two blocks in a group. Inputs of the K formats are whole super-blocks.
  blocks_ = (inputs + 2 * kBlock - 1) / (2 * kBlock) * 2;
  blocks_stride_ = blocks_ + (blocks_ * sizeof(ActivationBlock) % kColliding == 0 ? kApart : 0);
  quantized_.at_least((blocks_ + kApart) * count);  // more inputs never need less
}

void Activations::quantize(std::size_t begin, std::size_t end) noexcept {
  quantize(begin, end, best_kernels());
}

void Activations::quantize(std::size_t begin, std::size_t end, const QuantKernels& kernels) noexcept {
  const std::size_t whole = inputs_ / kBlock;
  for (std::size_t index = begin; index < end; ++index) {
    ActivationBlock* to = quantized_.data() + index * blocks_stride_;
    const float* from = values(index);
    kernels.quantize(from, to, whole);
    for (std::size_t block = whole; block < blocks_; ++block) {
      float padded[kBlock] = {};
      if (block * kBlock < inputs_) std::copy(from + block * kBlock, from + inputs_, padded);
      kernels.quantize(padded, to + block, 1);
    }
  }
}

void Activations::remainder(std::size_t index, float* to) const noexcept {
  const float* from = values(index);
  const ActivationBlock* block = row(index);
  for (std::size_t first = 0; first < inputs_; first += kBlock, ++block) {
    const std::size_t count = std::min<std::size_t>(kBlock, inputs_ - first);
    for (std::size_t i = 0; i < count; ++i)
      to[first + i] = from[first + i] - block->scale * static_cast<float>(block->quants[i]);
  }
}

}  // namespace lorekeep::quant
