#include "core/values/text_table.h"

#include <algorithm>
#include <utility>

#include "core/values/seeded_hash.h"

namespace lorekeep {

std::optional<std::size_t> TextTable::find(const TextArena& texts, std::string_view text) const {
  const std::uint32_t entry = table_[slot_of(texts, text)];
  return entry == 0 ? std::nullopt : std::optional<std::size_t>(entry - 1);
}

std::optional<std::size_t> TextTable::enter(const TextArena& texts, std::size_t position) {
  if (4 * (entered_ + 1) > 3 * table_.size()) grow(texts);
  const std::size_t slot = slot_of(texts, texts[position]);
  if (table_[slot] != 0) return table_[slot] - 1;
  table_[slot] = static_cast<std::uint32_t>(position + 1);
  ++entered_;
  return std::nullopt;
}

std::size_t TextTable::longest_run() const noexcept {
  std::size_t longest = 0;
  std::size_t run = 0;
  // Twice around, because a run may go on at the beginning.
  for (std::size_t i = 0; i < 2 * table_.size(); ++i) {
    run = table_[i % table_.size()] == 0 ? 0 : run + 1;
    longest = std::max(longest, run);
  }
  return std::min(longest, entered_);
}

/// Returns the slot of an equal text, or the free slot where the text belongs.
std::size_t TextTable::slot_of(const TextArena& texts, std::string_view text) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = SeededHash()(text) & mask;
  while (table_[slot] != 0 && texts[table_[slot] - 1] != text) slot = (slot + 1) & mask;
  return slot;
}

void TextTable::grow(const TextArena& texts) {
  const auto old = std::exchange(table_, std::vector<std::uint32_t>(2 * table_.size(), 0));
  for (const std::uint32_t entry : old) {
    if (entry != 0) table_[slot_of(texts, texts[entry - 1])] = entry;
  }
}

}  // namespace lorekeep
