// Finds ids that occur twice while records arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/text_arena.h"

namespace lorekeep::store {

/// An open table of ordinals beside the arena that holds the ids: 8 to 16 bytes a record.
class RecordIds {
 public:
  /// Enters ids[ordinal]; the ordinal that has the same id already, if one has. Precondition: ordinal < 2^32 - 1.
  std::optional<std::size_t> enter(const TextArena& ids, std::size_t ordinal);

 private:
  std::size_t slot_of(const TextArena& ids, std::size_t ordinal) const;
  void grow(const TextArena& ids);

  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(64, 0);  // ordinal + 1; 0: free
  std::size_t entered_ = 0;
};

}  // namespace lorekeep::store
