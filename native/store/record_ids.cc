#include "store/record_ids.h"

#include <span>
#include <utility>

#include "core/checksum.h"

namespace lorekeep::store {

std::optional<std::size_t> RecordIds::enter(const TextArena& ids, std::size_t ordinal) {
  if (2 * (entered_ + 1) > table_.size()) grow(ids);
  const std::size_t slot = slot_of(ids, ordinal);
  if (table_[slot] != 0) return table_[slot] - 1;
  table_[slot] = static_cast<std::uint32_t>(ordinal + 1);
  ++entered_;
  return std::nullopt;
}

/// The slot of the same id, or the free one where it belongs.
std::size_t RecordIds::slot_of(const TextArena& ids, std::size_t ordinal) const {
  const std::string_view id = ids[ordinal];
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(checksum(std::as_bytes(std::span(id.data(), id.size())))) & mask;
  while (table_[slot] != 0 && ids[table_[slot] - 1] != id) slot = (slot + 1) & mask;
  return slot;
}

void RecordIds::grow(const TextArena& ids) {
  const auto old = std::exchange(table_, std::vector<std::uint32_t>(2 * table_.size(), 0));
  for (const std::uint32_t entry : old) {
    if (entry != 0) table_[slot_of(ids, entry - 1)] = entry;
  }
}

}  // namespace lorekeep::store
