// The combining marks that follow a character, in the canonical order of Unicode, so that canonically equivalent texts
// give the same tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "text/multilingual_folding.h"

namespace lorekeep::text {

/// A sequence of marks without end is ordered in pieces of this size, as in the Stream-Safe Text Format (Unicode Annex
/// 15): no orthography needs as many.
inline constexpr std::size_t kMaxMarks = 30;

class CombiningMarks {
 public:
  /// Inserts a mark after those of its class. Preconditions: not full(), combining_class > 0.
  void add(FoldedPart mark, std::uint8_t combining_class) noexcept;

  /// Composes the marks with the character before them, as far as Unicode defines compositions, and returns the
  /// result. The others stay. A mark that belongs before one of the character's own takes its place.
  FoldedPart attach_to(char32_t character) noexcept;

  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ >= kMaxMarks; }
  std::size_t size() const noexcept { return count_; }
  FoldedPart operator[](std::size_t i) const noexcept { return marks_[i].part; }
  void clear() noexcept { count_ = 0; }

 private:
  /// The most marks of one character in Unicode's compositions.
  static constexpr std::size_t kMaxOwnMarks = 3;

  struct Mark {
    FoldedPart part;
    std::uint8_t combining_class;
  };
  void insert(Mark mark, bool before_equals) noexcept;

  Mark marks_[kMaxMarks + kMaxOwnMarks];
  std::size_t count_ = 0;
};

}  // namespace lorekeep::text
