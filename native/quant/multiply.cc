#include "quant/multiply.h"

#include "quant/groups.h"

namespace lorekeep::quant {

static_assert(kOutputGrain == kLanes);

void multiply(const PackedMatrix& weights, const Activations& activations, Range rows, Range outputs, float* out,
              std::size_t stride) noexcept {
  multiply(weights, activations, rows, outputs, out, stride, best_kernels());
}

void multiply(const PackedMatrix& weights, const Activations& activations, Range rows, Range outputs, float* out,
              std::size_t stride, const QuantKernels& kernels) noexcept {
  if (rows.begin >= rows.end || outputs.begin >= outputs.end) return;
  const std::size_t panels = (outputs.end - outputs.begin + kLanes - 1) / kLanes;
  Product product;
  product.weights = weights.panel(outputs.begin / kLanes);
  product.panel_bytes = weights.panel_bytes();
  product.blocks = activations.row(rows.begin);
  product.blocks_stride = activations.blocks_stride();
  product.values = activations.values(rows.begin);
  product.values_stride = activations.stride();
  product.out = out + rows.begin * stride + outputs.begin;
  product.out_stride = stride;
  product.rows = rows.end - rows.begin;
  product.inputs = weights.inputs();
  product.panels = panels;
  product.lanes = outputs.end - outputs.begin - (panels - 1) * kLanes;
  kernels.multiply[static_cast<std::size_t>(weights.format())](product);
}

}  // namespace lorekeep::quant
