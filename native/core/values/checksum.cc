#include "core/values/checksum.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

namespace lorekeep {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Digest digest(std::span<const std::byte> bytes) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

struct RunningChecksum::State {
  XXH3_state_t hash;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->hash);
}

RunningChecksum::~RunningChecksum() = default;
RunningChecksum::RunningChecksum(RunningChecksum&&) noexcept = default;
RunningChecksum& RunningChecksum::operator=(RunningChecksum&&) noexcept = default;

void RunningChecksum::update(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::uint64_t RunningChecksum::value() const noexcept {
  return XXH3_64bits_digest(&state_->hash);
}

}  // namespace lorekeep
