// Positions of a grammar that were seen while they are followed. Internal to native/lm.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/values/seeded_hash.h"

namespace lorekeep::lm {

/// A position in a compiled grammar: a state, the node of the character that is being read (0: none), and the stack of
/// callers.
struct GrammarPosition {
  std::uint32_t state;
  std::uint32_t node;
  std::uint32_t stack;
  auto operator<=>(const GrammarPosition&) const = default;
};

/// A hash set of positions before a character, emptied in constant time.
class PositionSet {
 public:
  void clear() noexcept {
    size_ = 0;
    if (++round_ == 0) {
      slots_.assign(slots_.size(), {});
      round_ = 1;
    }
  }
  std::size_t size() const noexcept { return size_; }

  /// Returns whether it was not there.
  bool insert(const GrammarPosition& position) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    if (!place((std::uint64_t{position.state} << 32) | position.stack)) return false;
    ++size_;
    return true;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t round = 0;
  };

  bool place(std::uint64_t key) noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = static_cast<std::size_t>((key * factor_) >> shift_);; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.round != round_) {
        slot = {key, round_};
        return true;
      }
      if (slot.key == key) return false;
    }
  }

  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
    old.swap(slots_);
    shift_ = std::countl_zero(slots_.size() - 1);
    for (const Slot& slot : old) {
      if (slot.round == round_) place(slot.key);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  int shift_ = 64;           // the upper bits of a product are a place
  const std::uint64_t factor_ = hash_seed() | 1;
  std::uint32_t round_ = 1;
  std::size_t size_ = 0;
};

}  // namespace lorekeep::lm
