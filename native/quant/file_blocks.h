// Blocks as stored in files. Internal to native/quant.
#pragma once

#include <cstdint>
#include <cstring>

#include "quant/format.h"

namespace lorekeep::quant {

inline constexpr std::size_t kBlock = 32;        // values that share a scale, or half of them in Q6_K
inline constexpr std::size_t kSuperBlock = 256;  // values of a K block
inline constexpr std::size_t kSubBlocks = kSuperBlock / kBlock;

// Scales are f16. Quants of 4 bits: the lower halves of `low` are the first 16 values, the upper halves the others.
struct FileQ8_0 {
  std::uint16_t scale;
  std::uint8_t quants[32];
};
struct FileQ4_0 {  // and IQ4_NL
  std::uint16_t scale;
  std::uint8_t low[16];
};
struct FileQ4_1 {
  std::uint16_t scale;
  std::uint16_t minimum;
  std::uint8_t low[16];
};
struct FileQ5_0 {
  std::uint16_t scale;
  std::uint8_t high[4];  // bit i of these 32 belongs to value i
  std::uint8_t low[16];
};
struct FileQ5_1 {
  std::uint16_t scale;
  std::uint16_t minimum;
  std::uint8_t high[4];
  std::uint8_t low[16];
};
/// Each 32 bytes of `low` hold 64 values: lower halves first.
struct FileQ4_K {
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];  // 8 scales and 8 minima of 6 bits
  std::uint8_t low[128];
};
struct FileQ5_K {
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];
  std::uint8_t high[32];  // bit i of byte l belongs to value 32 i + l
  std::uint8_t low[128];
};
/// Each 64 bytes of `low` and 32 of `high` hold 128 values.
struct FileQ6_K {
  std::uint8_t low[128];
  std::uint8_t high[64];
  std::int8_t scales[16];
  std::uint16_t d;
};
static_assert(sizeof(FileQ8_0) == 34 && sizeof(FileQ4_0) == 18 && sizeof(FileQ4_1) == 20 && sizeof(FileQ5_0) == 22 &&
              sizeof(FileQ5_1) == 24 && sizeof(FileQ4_K) == 144 && sizeof(FileQ5_K) == 176 && sizeof(FileQ6_K) == 210);

// quants_of() writes the quants of a block in order, as unsigned numbers; Q8_0 adds 128.

inline void quants_of_low(const std::uint8_t* low, std::uint8_t* to) noexcept {
  for (int i = 0; i < 16; ++i) {
    to[i] = low[i] & 15;
    to[i + 16] = low[i] >> 4;
  }
}
inline void add_high(const std::uint8_t* high, std::uint8_t* to) noexcept {
  std::uint32_t bits;
  std::memcpy(&bits, high, sizeof bits);
  for (int i = 0; i < 32; ++i) to[i] |= static_cast<std::uint8_t>((bits >> i & 1) << 4);
}
inline void quants_of(const FileQ8_0& block, std::uint8_t* to) noexcept {
  for (int i = 0; i < 32; ++i) to[i] = block.quants[i] ^ 0x80;
}
inline void quants_of(const FileQ4_0& block, std::uint8_t* to) noexcept {
  quants_of_low(block.low, to);
}
inline void quants_of(const FileQ4_1& block, std::uint8_t* to) noexcept {
  quants_of_low(block.low, to);
}
template <class Block>
  requires(sizeof(Block) == sizeof(FileQ5_0) || sizeof(Block) == sizeof(FileQ5_1))
inline void quants_of(const Block& block, std::uint8_t* to) noexcept {
  quants_of_low(block.low, to);
  add_high(block.high, to);
}
inline void quants_of(const FileQ4_K& block, std::uint8_t* to) noexcept {
  for (int i = 0; i < 128; ++i) {
    std::uint8_t* pair = to + i / 32 * 64 + i % 32;
    pair[0] = block.low[i] & 15;
    pair[32] = block.low[i] >> 4;
  }
}
inline void quants_of(const FileQ5_K& block, std::uint8_t* to) noexcept {
  for (int i = 0; i < 128; ++i) {
    std::uint8_t* pair = to + i / 32 * 64 + i % 32;
    const int high = block.high[i % 32] >> (i / 32 * 2);
    pair[0] = static_cast<std::uint8_t>((block.low[i] & 15) | (high & 1) << 4);
    pair[32] = static_cast<std::uint8_t>((block.low[i] >> 4) | (high >> 1 & 1) << 4);
  }
}
inline void quants_of(const FileQ6_K& block, std::uint8_t* to) noexcept {
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 128; ++i) {
      const int low = block.low[half * 64 + i % 64] >> (i / 64 * 4) & 15;
      const int high = block.high[half * 32 + i % 32] >> (i / 32 * 2) & 3;
      to[half * 128 + i] = static_cast<std::uint8_t>(low | high << 4);
    }
  }
}

/// Unpacks the eight scales and minima of Q4_K and Q5_K.
inline void small_scales(const std::uint8_t* packed, std::uint8_t* scales, std::uint8_t* minima) noexcept {
  for (int i = 0; i < 4; ++i) {
    scales[i] = packed[i] & 63;
    minima[i] = packed[i + 4] & 63;
    scales[i + 4] = static_cast<std::uint8_t>((packed[i + 8] & 15) | packed[i] >> 6 << 4);
    minima[i + 4] = static_cast<std::uint8_t>(packed[i + 8] >> 4 | packed[i + 4] >> 6 << 4);
  }
}

}  // namespace lorekeep::quant
