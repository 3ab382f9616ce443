// Terms of a segment under construction: term -> number, in order of first appearance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace lorekeep::text {

class TermTable {
 public:
  struct Term {
    std::uint64_t hash;
    std::uint64_t begin;  // in text()
    std::uint32_t size;
    std::uint32_t last_document;  // for the caller: the last document with the term, ...
    std::uint32_t frequency;      // ... and its occurrences there
  };
  static constexpr std::uint32_t kNoDocument = ~0u;

  TermTable() : slots_(kFirstSlots) {}

  /// Returns the term's number; a new term gets the next one. `hash` is any good 64-bit hash of the term.
  std::uint32_t find_or_add(std::string_view term, std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot slot = slots_[i];
      if (slot.number == 0) return add(i, term, hash);
      if (slot.tag != tag_of(hash)) continue;
      const Term& known = terms_[slot.number - 1];
      if (known.hash == hash && text_of(known) == term) return slot.number - 1;
    }
  }

  std::vector<Term>& terms() noexcept { return terms_; }
  std::vector<char>& text() noexcept { return text_; }
  std::string_view text_of(const Term& term) const noexcept { return {text_.data() + term.begin, term.size}; }

 private:
  struct Slot {
    std::uint32_t number = 0;  // of the term + 1; 0: free
    std::uint32_t tag = 0;
  };
  static constexpr std::size_t kFirstSlots = 1 << 14;
  static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32); }

  std::uint32_t add(std::size_t slot, std::string_view term, std::uint64_t hash) {
    const auto number = static_cast<std::uint32_t>(terms_.size());
    terms_.push_back({hash, text_.size(), static_cast<std::uint32_t>(term.size()), kNoDocument, 0});
    text_.insert(text_.end(), term.begin(), term.end());
    slots_[slot] = {number + 1, tag_of(hash)};
    if (terms_.size() * 2 > slots_.size()) grow();
    return number;
  }

  void grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    const std::size_t mask = larger.size() - 1;
    for (std::size_t number = 0; number < terms_.size(); ++number) {
      std::size_t i = terms_[number].hash & mask;
      while (larger[i].number != 0) i = (i + 1) & mask;
      larger[i] = {static_cast<std::uint32_t>(number + 1), tag_of(terms_[number].hash)};
    }
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<Term> terms_;
  std::vector<char> text_;
};

}  // namespace lorekeep::text
