#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lorekeep {

/// XXH3-64 of the bytes: detects damage and names content; not a defence against forgery.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

}  // namespace lorekeep
