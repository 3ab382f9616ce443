#include "core/checksum.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace lorekeep {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace lorekeep
