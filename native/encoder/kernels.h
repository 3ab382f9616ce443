// The arithmetic of an encoder's forward pass, one set of functions per kind of processor. All matrices are row-major,
// with a width divisible by `kLanes`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lorekeep::encoder {

/// Outputs that a matrix multiplication computes side by side. Their weights are stored together, as a panel.
inline constexpr std::size_t kLanes = 16;

/// Storage of a matrix's weights.
enum class Precision {
  kF32,
  kBf16,  // half the memory and, with the instruction, twice the speed; embeddings keep a cosine above 0.9999
  kQ8,    // 8 bits each and a scale for every 32, as in Q8_0 files; inputs are quantised alike
};

/// c[m][n] = bias[n] + sum over k of a[m][k] * b[n][k], or adds that to c[m][n]. A row's result does not depend on the
/// other rows: its sum is always in the order of k.
template <class T>
struct Gemm {
  const T* a;  // rows x depth
  std::size_t a_stride;
  /// Panels: step k (f32) or the pair of steps k, k + 1 (bf16) of 16 outputs starts at
  /// b + panel * panel_stride + k * kLanes (bf16), or + k * step_stride (f32). In a bf16 panel, pairs are interleaved.
  const T* b;
  std::size_t panel_stride;
  std::size_t step_stride;
  const float* bias;  // of panels * kLanes outputs; null: zeros
  float* c;           // rows x panels * kLanes
  std::size_t c_stride;
  std::size_t rows;
  std::size_t depth;  // even for bf16
  std::size_t panels;
  bool accumulate;
};

/// Number of weights or inputs that share a scale.
inline constexpr std::size_t kQ8Block = 32;
/// Steps of the sum in one 32-bit lane.
inline constexpr std::size_t kQ8Group = 4;

/// The largest magnitude of a quant, and the offset added to an input's quant.
inline constexpr float kMaxQuant = 127;
inline constexpr std::int32_t kQ8Zero = 128;

/// A block of weights of 16 outputs: weight = scale * quant.
struct alignas(64) Q8Panel {
  std::int8_t quants[kQ8Block / kQ8Group][kLanes][kQ8Group];
  /// -kQ8Zero times the sum of an output's quants.
  std::int32_t offset[kLanes];
  float scale[kLanes];
};

/// A block of inputs: input = scale * (quant - kQ8Zero).
struct Q8Input {
  std::uint8_t quants[kQ8Block];  // 1 to 255
  float scale;
};

/// c[m][n] = bias[n] + sum over k of a[m][k] * b[n][k], or adds that to c[m][n]. Sums of a block are exact integers.
struct GemmQ8 {
  const Q8Input* a;   // rows x blocks
  const Q8Panel* b;   // panels x blocks
  const float* bias;  // of panels * kLanes outputs
  float* c;           // rows x panels * kLanes
  std::size_t rows;
  std::size_t blocks;
  std::size_t panels;
  bool accumulate;
};

struct EncoderKernels {
  const char* name;
  /// The precision that the set uses.
  Precision precision;
  void (*gemm_f32)(const Gemm<float>& gemm);
  /// bf16: the upper half of an f32. Products are exact, sums are f32. Null if the processor has no such instruction.
  void (*gemm_bf16)(const Gemm<std::uint16_t>& gemm) = nullptr;
  /// Rounds to nearest, ties to even. `count` is a multiple of kLanes, as below.
  void (*round_bf16)(const float* from, std::uint16_t* to, std::size_t count);
  /// Null if the processor has no such instruction; so is quantize_q8.
  void (*gemm_q8)(const GemmQ8& gemm) = nullptr;
  /// The scale of a block is its largest magnitude / kMaxQuant. Values are finite.
  void (*quantize_q8)(const float* from, Q8Input* to, std::size_t blocks) = nullptr;
  /// x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))), the tanh form of GELU (Hendrycks, Gimpel 2016).
  void (*gelu)(float* values, std::size_t count);
  /// (x - mean) / sqrt(variance + epsilon) * weight + bias, in place.
  void (*layer_norm)(float* row, const float* weight, const float* bias, std::size_t count, float epsilon);
  /// exp(scale * (x - largest)) / their sum, in place; any `count` >= 1.
  void (*softmax)(float* row, std::size_t count, float scale);
};

/// Returns the sets within usable_features() (core/cpu/cpu.h), slowest first; always includes "scalar", the reference.
std::span<const EncoderKernels* const> available_kernels() noexcept;
/// Returns the available set with this name, or null.
const EncoderKernels* kernels_named(std::string_view name) noexcept;

}  // namespace lorekeep::encoder
