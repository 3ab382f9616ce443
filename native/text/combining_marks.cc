#include "text/combining_marks.h"

namespace lorekeep::text {
namespace {

constexpr char32_t kDotAbove = 0x0307;

}  // namespace

void CombiningMarks::add(FoldedPart mark, std::uint8_t combining_class) noexcept {
  insert({mark, combining_class}, false);
}

void CombiningMarks::insert(Mark mark, bool before_equals) noexcept {
  std::size_t at = count_++;
  while (at > 0 && (marks_[at - 1].combining_class > mark.combining_class ||
                    (before_equals && marks_[at - 1].combining_class == mark.combining_class))) {
    marks_[at] = marks_[at - 1];
    --at;
  }
  marks_[at] = mark;
}

FoldedPart CombiningMarks::attach_to(char32_t character) noexcept {
  FoldedPart parts[multilingual::kMaxExpansion];
  while (count_ > 0 && count_ < std::size(marks_)) {
    const Decomposition own = decompose(character);
    const std::uint8_t own_class = own.second == 0 ? 0 : combining_class(own.second);
    if (own_class <= marks_[0].combining_class) break;
    character = own.first;
    if (fold_multilingual(own.second, parts) == 1) insert({parts[0], own_class}, true);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const Mark mark = marks_[i];
    const bool blocked = kept > 0 && marks_[kept - 1].combining_class >= mark.combining_class;
    const char32_t composed = blocked ? 0 : compose(character, mark.part.code_point);
    if (composed != 0 && fold_multilingual(composed, parts) == 1) {
      character = parts[0].code_point;
    } else if (character != 'i' || mark.part.code_point != kDotAbove || blocked) {  // U+0130 folds to i
      marks_[kept++] = mark;
    }
  }
  count_ = kept;
  fold_multilingual(character, parts);
  return parts[0];
}

}  // namespace lorekeep::text
