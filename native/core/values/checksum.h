#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace lorekeep {

/// XXH3-64 of the bytes. Detects damage and identifies content; does not protect against forgery.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

/// 128 bits that identify content; different bytes have equal digests only by chance.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

/// XXH3-128 of the bytes. Does not protect against forgery either.
Digest digest(std::span<const std::byte> bytes) noexcept;

/// checksum() with seed 0 of bytes that arrive piece by piece.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();
  RunningChecksum(RunningChecksum&&) noexcept;
  RunningChecksum& operator=(RunningChecksum&&) noexcept;

  void update(std::span<const std::byte> bytes) noexcept;
  /// Returns the checksum of all bytes so far.
  std::uint64_t value() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lorekeep
