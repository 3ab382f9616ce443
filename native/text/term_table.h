// Distinct terms and their numbers, while texts are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/threads/poll.h"
#include "text/short_key.h"

namespace lorekeep::text {

/// A hash table that no chosen words slow. Numbers are in order of first appearance.
class TermTable {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  struct Term {
    std::string_view text;  // as long as the table
    std::uint64_t hash;     // term_hash()
  };

  /// Polls `cancel`, which may be null, once in 65,536 terms that are moved.
  explicit TermTable(const CancelToken* cancel) : poll_(cancel), slots_(kFirstSlots) {}

  /// A term that is looked up. Looking several up step by step fetches their places in memory together.
  struct Lookup {
    ShortKey key;  // of long terms: a hash
    std::uint64_t hash;
  };

  /// Begins to look a term up. Precondition: it is UTF-8 without U+0000.
  Lookup begin(std::string_view term) const noexcept;
  /// Goes on with it.
  void fetch(const Lookup& lookup) const noexcept;
  /// Returns the term's number, or kNone.
  std::uint32_t find(const Lookup& lookup, std::string_view term) const noexcept {
    return slots_[slot_of(lookup, term)].number - 1;
  }
  /// Returns the term's number; a new term gets the next one. `term`: as for begin().
  std::uint32_t find_or_add(const Lookup& lookup, std::string_view term);

  std::size_t size() const noexcept { return terms_.size(); }
  const Term& operator[](std::uint32_t number) const noexcept { return terms_[number]; }

 private:
  struct Slot {
    std::uint32_t number = 0;  // of the term + 1; 0: free
    std::uint32_t tag = 0;     // its place, and the bits of its hash above
  };
  static constexpr std::size_t kFirstSlots = 1 << 10;
  static constexpr std::size_t kBlockBytes = 1 << 16;

  /// Returns the slot of the term: a free one if it is new.
  std::size_t slot_of(const Lookup& lookup, std::string_view term) const noexcept;
  std::uint32_t add(std::size_t slot, const Lookup& lookup, std::string_view term);
  std::string_view keep(std::string_view term);
  void grow();

  Poll poll_;
  const KeySeeds seeds_;
  std::vector<Slot> slots_;     // a power of two, at most half full
  std::vector<ShortKey> keys_;  // by term; see Lookup
  std::vector<Term> terms_;
  std::vector<std::unique_ptr<char[]>> blocks_;  // of the terms' texts
  char* next_ = nullptr;                         // in the last block
  std::size_t left_ = 0;
};

}  // namespace lorekeep::text
