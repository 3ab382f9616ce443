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

/// For unordered containers.
struct SeededHash {
  std::size_t operator()(std::string_view text) const noexcept { return static_cast<std::size_t>(seeded_hash(text)); }
  std::size_t operator()(std::uint64_t number) const noexcept { return static_cast<std::size_t>(seeded_hash(number)); }
};

}  // namespace lorekeep
