// Hashes for tables in memory whose keys come from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lorekeep {

/// A random number that is another one in each process: nobody can choose keys that share a place in a table. Nothing
/// that is saved, and no order that a caller sees, may depend on it.
std::uint64_t hash_seed() noexcept;

/// XXH3-64 with the seed of this process.
std::uint64_t seeded_hash(std::string_view text) noexcept;
std::uint64_t seeded_hash(std::uint64_t number) noexcept;

/// Returns a hash of two numbers, as fast as one multiplication: for keys of 16 bytes. `seeds`: of this process.
inline std::uint64_t seeded_hash(std::uint64_t first, std::uint64_t second, const std::uint64_t (&seeds)[2]) noexcept {
  const std::uint64_t a = first ^ seeds[0];
  const std::uint64_t b = second ^ seeds[1];
#if defined(__SIZEOF_INT128__)
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
  const std::uint64_t low = 0xFFFFFFFF;
  const std::uint64_t cross = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  const std::uint64_t other = (a & low) * (b >> 32) + (cross & low);
  return (a * b) ^ ((a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32));
#endif
}

/// For unordered containers.
struct SeededHash {
  std::size_t operator()(std::string_view text) const noexcept { return static_cast<std::size_t>(seeded_hash(text)); }
  std::size_t operator()(std::uint64_t number) const noexcept { return static_cast<std::size_t>(seeded_hash(number)); }
};

}  // namespace lorekeep
