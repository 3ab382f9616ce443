#include "text/term_table.h"

#include <algorithm>

#include "core/values/prefetch.h"
#include "core/values/seeded_hash.h"
#include "text/index_data.h"

namespace lorekeep::text {
namespace {

/// No short text has these bytes: they are not UTF-8.
constexpr std::uint64_t kLong = ~std::uint64_t{0};

}  // namespace

TermTable::Lookup TermTable::begin(std::string_view term) const noexcept {
  const bool is_short = term.size() <= ShortKey::kMaxBytes;
  const ShortKey key = is_short ? short_key(term) : ShortKey{seeded_hash(term), kLong};
  const std::uint64_t hash = is_short ? seeds_.hash(key) : key.low;
  prefetch(&slots_[hash & (slots_.size() - 1)]);
  return {key, hash};
}

void TermTable::fetch(const Lookup& lookup) const noexcept {
  const Slot slot = slots_[lookup.hash & (slots_.size() - 1)];
  if (slot.number != 0) prefetch(&keys_[slot.number - 1]);
}

std::uint32_t TermTable::find_or_add(const Lookup& lookup, std::string_view term) {
  const std::size_t slot = slot_of(lookup, term);
  return slots_[slot].number != 0 ? slots_[slot].number - 1 : add(slot, lookup, term);
}

std::size_t TermTable::slot_of(const Lookup& lookup, std::string_view term) const noexcept {
  const auto tag = static_cast<std::uint32_t>(lookup.hash);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = tag & mask;
  for (; slots_[slot].number != 0; slot = (slot + 1) & mask) {
    const std::uint32_t number = slots_[slot].number - 1;
    if (slots_[slot].tag != tag || keys_[number] != lookup.key) continue;
    if (lookup.key.high != kLong || terms_[number].text == term) break;
  }
  return slot;
}

std::uint32_t TermTable::add(std::size_t slot, const Lookup& lookup, std::string_view term) {
  const auto number = static_cast<std::uint32_t>(terms_.size());
  keys_.push_back(lookup.key);
  terms_.push_back({keep(term), term_hash(term)});
  slots_[slot] = {number + 1, static_cast<std::uint32_t>(lookup.hash)};
  if (terms_.size() * 2 > slots_.size()) grow();
  return number;
}

std::string_view TermTable::keep(std::string_view term) {
  static_assert(kMaxTokenBytes + 1 <= kBlockBytes);
  if (term.size() > left_) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
    next_ = blocks_.back().get();
    left_ = kBlockBytes;
  }
  const std::string_view kept(next_, term.size());
  next_ = std::copy(term.begin(), term.end(), next_);
  left_ -= term.size();
  return kept;
}

void TermTable::grow() {
  std::vector<Slot> larger(slots_.size() * 2);
  const std::size_t mask = larger.size() - 1;
  for (const Slot slot : slots_) {
    poll_.step();
    if (slot.number == 0) continue;
    std::size_t i = slot.tag & mask;
    while (larger[i].number != 0) i = (i + 1) & mask;
    larger[i] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace lorekeep::text
