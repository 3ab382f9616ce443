// Finds equal texts in an arena while texts are appended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/values/text_arena.h"

namespace lorekeep {

/// A hash table of positions in an arena, with open addressing; 5 to 11 bytes per text. Every call takes the same
/// arena, to which texts may only be appended.
class TextTable {
 public:
  /// Returns the position of an equal entered text.
  std::optional<std::size_t> find(const TextArena& texts, std::string_view text) const;
  /// Enters texts[position], or returns the position of an equal entered text. Precondition: position < 2^32 - 1.
  std::optional<std::size_t> enter(const TextArena& texts, std::size_t position);
  /// Returns how many entries a search compares with at most.
  std::size_t longest_run() const noexcept;

 private:
  std::size_t slot_of(const TextArena& texts, std::string_view text) const;
  void grow(const TextArena& texts);

  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(64, 0);  // position + 1; 0: free
  std::size_t entered_ = 0;
};

}  // namespace lorekeep
