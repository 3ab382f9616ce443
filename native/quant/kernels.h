// The kernel sets of multiply(), one per kind of processor.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "quant/activations.h"
#include "quant/format.h"

namespace lorekeep::quant {

/// The product of some rows of activations and some panels of a matrix.
struct Product {
  const std::byte* weights;  // the first panel
  std::size_t panel_bytes;
  const ActivationBlock* blocks;  // the first row; null for matrices of floats
  std::size_t blocks_stride;      // blocks per row
  const float* values;            // the first row
  std::size_t values_stride;
  float* out;  // of the first row and panel
  std::size_t out_stride;
  std::size_t rows;  // at least 1
  std::size_t inputs;
  std::size_t panels;  // at least 1
  std::size_t lanes;   // outputs of the last panel, 1 to 16
};

struct QuantKernels {
  const char* name;
  void (*quantize)(const float* from, ActivationBlock* to, std::size_t blocks) noexcept;
  /// One per format.
  std::array<void (*)(const Product& product) noexcept, kFormats> multiply;
};

/// Returns the sets within usable_features() (core/cpu/cpu.h), slowest first; always includes "scalar", the reference.
/// All sets compute the same bits.
std::span<const QuantKernels* const> available_kernels() noexcept;
/// Returns the available set with this name, or null.
const QuantKernels* kernels_named(std::string_view name) noexcept;
/// Returns the fastest available set, determined once. Tiles (AMX) are measured against the set before them, because
/// virtual machines and other programs may slow them down; results do not depend on the choice.
const QuantKernels& best_kernels() noexcept;

}  // namespace lorekeep::quant
