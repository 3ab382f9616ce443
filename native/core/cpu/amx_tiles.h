// AMX: eight registers (tiles) of up to 16 rows x 64 bytes, and their products.
//
// Written in assembly, because the compilers' intrinsics take the tile number as a literal, which a template cannot
// pass, and because GCC 12 does not declare the memory that they read, so it drops stores before them.
#pragma once

// Only on Linux: requesting the tiles at run time is tested there.
#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#define LOREKEEP_AMX 1
#else
#define LOREKEEP_AMX 0
#endif

#if LOREKEEP_AMX

#include <cstddef>
#include <cstdint>

namespace lorekeep {

inline constexpr std::size_t kTileRowsOfAmx = 16;
inline constexpr std::size_t kTileBytes = 64;  // per row

/// The operand of LDTILECFG: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, section 18.3.
struct alignas(64) TileConfig {
  std::uint8_t palette = 0;  // 0: no tiles, 1: those above
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[8] = {};
  std::uint16_t unused_row_bytes[8] = {};
  std::uint8_t rows[8] = {};
  std::uint8_t unused_rows[8] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// Owns the tiles of this thread during its lifetime. Its end restores the previous configuration, with zeroed tiles,
/// because ggml configures a thread only once. Without a previous configuration it releases the tiles, so that the
/// operating system saves 8 KiB less per thread.
class TileScope {
 public:
  TileScope() noexcept : before_(current()) {}
  ~TileScope() {
    if (before_.palette == 0) {
      asm volatile("tilerelease" ::: "memory");
    } else {
      configure(before_);
    }
  }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

  static TileConfig current() noexcept {
    TileConfig found;
    asm volatile("sttilecfg %0" : "=m"(found));
    return found;
  }
  /// Sets all tiles to zero.
  static void configure(const TileConfig& config) noexcept { asm volatile("ldtilecfg %0" : : "m"(config) : "memory"); }

 private:
  TileConfig before_;
};

template <int kTile>
inline void tile_zero() noexcept {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}

/// Loads the rows of the tile from `rows`, `stride` bytes apart; 0 loads the same row into all.
template <int kTile>
inline void tile_load(const void* rows, std::size_t stride) noexcept {
  asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(kTile), "r"(rows), "r"(stride) : "memory");
}

template <int kTile>
inline void tile_store(void* rows, std::size_t stride) noexcept {
  asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(kTile), "r"(rows), "r"(stride) : "memory");
}

/// kSums (f32) += kA (bf16) times kB (bf16, the values of two steps of the sum interleaved).
template <int kSums, int kA, int kB>
inline void tile_dot_bf16() noexcept {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
}

/// kSums (i32) += kA (signed bytes) times kB (signed bytes, the values of four steps of the sum interleaved).
template <int kSums, int kA, int kB>
inline void tile_dot_bytes() noexcept {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
}

}  // namespace lorekeep
#endif
