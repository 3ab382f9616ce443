#include "quant/activations.h"

#include <algorithm>

#include "quant/groups.h"
#include "quant/kernels.h"

namespace lorekeep::quant {

void Activations::reset(const float* rows, std::size_t inputs, std::size_t stride, std::size_t count) {
  rows_ = rows;
  inputs_ = inputs;
  stride_ = stride;
  count_ = count;
  // Even, for the formats with two blocks in a group. Inputs of the K formats are whole super-blocks.
  blocks_ = (inputs + 2 * kBlock - 1) / (2 * kBlock) * 2;
  quantized_.at_least(blocks_ * count);
}

void Activations::quantize(std::size_t begin, std::size_t end) noexcept {
  quantize(begin, end, best_kernels());
}

void Activations::quantize(std::size_t begin, std::size_t end, const QuantKernels& kernels) noexcept {
  const std::size_t whole = inputs_ / kBlock;
  for (std::size_t index = begin; index < end; ++index) {
    ActivationBlock* to = quantized_.data() + index * blocks_;
    const float* from = values(index);
    kernels.quantize(from, to, whole);
    for (std::size_t block = whole; block < blocks_; ++block) {
      float padded[kBlock] = {};
      if (block * kBlock < inputs_) std::copy(from + block * kBlock, from + inputs_, padded);
      kernels.quantize(padded, to + block, 1);
    }
  }
}

}  // namespace lorekeep::quant
