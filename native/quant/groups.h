// The layout of packed weights. Internal to native/quant.
//
// A panel holds the weights of 16 outputs, the lanes. It is a sequence of groups, each a whole number of cache lines; a
// group is the smallest number of blocks of 32 inputs for which that is so (a super-block in the K formats). Quants of
// a block are in steps of 4 inputs: byte [step][lane][i] is input 4 step + i, the operand of VPDPBUSD and UDOT, and the
// steps of a block are the rows of an AMX tile. Quants are unsigned, as in the file, except that Q8_0 adds 128.
//   low[j]:  steps 2 j (lower halves) and 2 j + 1 (upper halves), 4 bits each
//   high:    the fifth bits: bit s belongs to step s
//   high[j]: the fifth and sixth bits: bits 2 s, 2 s + 1 belong to step 4 j + s
// Scales are the bits of the file: f16, or 6 or 8 bits that multiply an f16. So packing loses nothing, and is 0 to 3 %
// larger than the file. Outputs beyond the last are zeros; so are blocks that fill the last group.
//
// Panels of floats are [input][lane], in the file's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "quant/file_blocks.h"
#include "quant/format.h"

namespace lorekeep::quant {

inline constexpr std::size_t kLanes = 16;
inline constexpr std::size_t kStep = 4;
inline constexpr std::size_t kSteps = kBlock / kStep;
inline constexpr std::size_t kLine = 64;  // bytes of a step, and of a cache line

using Step = std::uint8_t[kLanes][kStep];

/// In place of the largest quant: signed bytes, as magnitudes and signs (UnpackedSigned).
inline constexpr int kSigned = 128;

/// How a block adds to a sum; see multiply.h.
enum class Arithmetic { kCentred, kMinimum, kHalves };

struct alignas(kLine) GroupQ8_0 {
  using File = FileQ8_0;
  static constexpr Arithmetic kArithmetic = Arithmetic::kCentred;
  static constexpr int kZero = 128;
  static constexpr int kMaxQuant = 255;
  static constexpr std::size_t kBlocks = 2;
  Step quants[kBlocks][kSteps];
  std::uint16_t scale[kBlocks][kLanes];
};
struct alignas(kLine) GroupQ4_0 {
  using File = FileQ4_0;
  static constexpr Arithmetic kArithmetic = Arithmetic::kCentred;
  static constexpr int kZero = 8;
  static constexpr int kMaxQuant = 15;
  static constexpr std::size_t kBlocks = 2;
  Step low[kBlocks][kSteps / 2];
  std::uint16_t scale[kBlocks][kLanes];
};
/// Quants are places in kIq4Values. A kernel adds 128 to the values.
struct alignas(kLine) GroupIq4Nl {
  using File = FileQ4_0;
  static constexpr Arithmetic kArithmetic = Arithmetic::kCentred;
  static constexpr int kZero = 128;
  static constexpr int kMaxQuant = 255;
  static constexpr std::size_t kBlocks = 2;
  Step low[kBlocks][kSteps / 2];
  std::uint16_t scale[kBlocks][kLanes];
};
struct alignas(kLine) GroupQ5_0 {
  using File = FileQ5_0;
  static constexpr Arithmetic kArithmetic = Arithmetic::kCentred;
  static constexpr int kZero = 16;
  static constexpr int kMaxQuant = 31;
  static constexpr std::size_t kBlocks = 2;
  Step low[kBlocks][kSteps / 2];
  Step high[kBlocks];
  std::uint16_t scale[kBlocks][kLanes];
};
struct alignas(kLine) GroupQ4_1 {
  using File = FileQ4_1;
  static constexpr Arithmetic kArithmetic = Arithmetic::kMinimum;
  static constexpr int kZero = 0;
  static constexpr int kMaxQuant = 15;
  static constexpr std::size_t kBlocks = 1;
  Step low[kBlocks][kSteps / 2];
  std::uint16_t scale[kBlocks][kLanes];
  std::uint16_t minimum[kBlocks][kLanes];
};
struct alignas(kLine) GroupQ5_1 {
  using File = FileQ5_1;
  static constexpr Arithmetic kArithmetic = Arithmetic::kMinimum;
  static constexpr int kZero = 0;
  static constexpr int kMaxQuant = 31;
  static constexpr std::size_t kBlocks = 1;
  Step low[kBlocks][kSteps / 2];
  Step high[kBlocks];
  std::uint16_t scale[kBlocks][kLanes];
  std::uint16_t minimum[kBlocks][kLanes];
};
struct alignas(kLine) GroupQ4_K {
  using File = FileQ4_K;
  static constexpr Arithmetic kArithmetic = Arithmetic::kMinimum;
  static constexpr int kZero = 0;
  static constexpr int kMaxQuant = 15;
  static constexpr std::size_t kBlocks = kSubBlocks;
  Step low[kBlocks][kSteps / 2];
  std::uint8_t scale[kBlocks][kLanes];
  std::uint8_t minimum[kBlocks][kLanes];
  std::uint16_t d[kLanes];
  std::uint16_t dmin[kLanes];
};
struct alignas(kLine) GroupQ5_K {
  using File = FileQ5_K;
  static constexpr Arithmetic kArithmetic = Arithmetic::kMinimum;
  static constexpr int kZero = 0;
  static constexpr int kMaxQuant = 31;
  static constexpr std::size_t kBlocks = kSubBlocks;
  Step low[kBlocks][kSteps / 2];
  Step high[kBlocks];
  std::uint8_t scale[kBlocks][kLanes];
  std::uint8_t minimum[kBlocks][kLanes];
  std::uint16_t d[kLanes];
  std::uint16_t dmin[kLanes];
};
struct alignas(kLine) GroupQ6_K {
  using File = FileQ6_K;
  static constexpr Arithmetic kArithmetic = Arithmetic::kHalves;
  static constexpr int kZero = 32;
  static constexpr int kMaxQuant = 63;
  static constexpr std::size_t kBlocks = kSubBlocks;
  Step low[kBlocks][kSteps / 2];
  Step high[kBlocks][2];
  std::int8_t scale[kBlocks][2][kLanes];  // of either half of a block
  std::uint16_t d[kLanes];
};

/// Calls function.template operator()<Group>() with the group type of a quantised format.
template <class Function>
decltype(auto) with_group(Format format, Function&& function) {
  switch (format) {
    case Format::kQ4_0: return function.template operator()<GroupQ4_0>();
    case Format::kQ4_1: return function.template operator()<GroupQ4_1>();
    case Format::kQ5_0: return function.template operator()<GroupQ5_0>();
    case Format::kQ5_1: return function.template operator()<GroupQ5_1>();
    case Format::kQ4_K: return function.template operator()<GroupQ4_K>();
    case Format::kQ5_K: return function.template operator()<GroupQ5_K>();
    case Format::kQ6_K: return function.template operator()<GroupQ6_K>();
    case Format::kIq4Nl: return function.template operator()<GroupIq4Nl>();
    default: return function.template operator()<GroupQ8_0>();
  }
}

}  // namespace lorekeep::quant
