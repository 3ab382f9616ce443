// Finds a text among those of an arena while they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/text_arena.h"

namespace lorekeep {

/// An open table of positions beside the arena that holds the texts: 5 to 11 bytes a text. Every call is given the same
/// arena, to which texts have been appended alone.
class TextTable {
 public:
  /// The position of an entered text that equals this one.
  std::optional<std::size_t> find(const TextArena& texts, std::string_view text) const;
  /// Enters texts[position]; the position of an equal text in its place, if one is entered already. Precondition:
  /// position < 2^32 - 1.
  std::optional<std::size_t> enter(const TextArena& texts, std::size_t position);

 private:
  std::size_t slot_of(const TextArena& texts, std::string_view text) const;
  void grow(const TextArena& texts);

  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(64, 0);  // position + 1; 0: free
  std::size_t entered_ = 0;
};

}  // namespace lorekeep
