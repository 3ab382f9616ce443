#include "core/values/seeded_hash.h"

#include <chrono>
#include <exception>
#include <random>
#include <span>

#include "core/values/checksum.h"

namespace lorekeep {

std::uint64_t hash_seed() noexcept {
  static const std::uint64_t seed = [] {
    try {
      std::random_device random;
      return std::uint64_t{random()} << 32 | random();
    } catch (const std::exception&) {  // no source of random numbers
      return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    }
  }();
  return seed;
}

std::uint64_t seeded_hash(std::string_view text) noexcept {
  return checksum(std::as_bytes(std::span(text.data(), text.size())), hash_seed());
}

std::uint64_t seeded_hash(std::uint64_t number) noexcept {
  return checksum(std::as_bytes(std::span(&number, 1)), hash_seed());
}

}  // namespace lorekeep
