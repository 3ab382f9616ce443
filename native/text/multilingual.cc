#include "text/multilingual.h"

#include <algorithm>
#include <utility>

#include "core/values/utf8.h"
#include "text/word_beginning.h"

namespace lorekeep::text {
namespace {

// Letters from here on have no case that "camelCase" is written with.
constexpr char32_t kLastCased = 0x0530;

std::size_t utf8_size(char32_t code_point) noexcept {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

// Folds to a letter, and is a mark to the other marks of its letter.
constexpr char32_t kIotaSubscript = 0x0345, kFirstSubscript = 0x1F80, kLastSubscript = 0x1FFC;

/// Writes the letters in UTF-8 and returns the text.
template <class Letter>
std::string_view encode(const Letter* letters, std::size_t count, char* out) noexcept {
  char* at = out;
  for (std::size_t i = 0; i < count; ++i) {
    const char32_t code_point = letters[i].code_point;
    if (code_point < 0x80) {
      *at++ = static_cast<char>(code_point);
    } else {
      at += encode_utf8(code_point, at);
    }
  }
  return {out, at};
}

bool is_digit(char32_t code_point) noexcept {
  return code_point >= '0' && code_point <= '9';
}

bool is_ascii_word(char32_t code_point) noexcept {
  return is_digit(code_point) || ((code_point | 0x20) >= 'a' && (code_point | 0x20) <= 'z');
}

CodePointClass class_of(char32_t code_point) noexcept {
  FoldedPart parts[multilingual::kMaxExpansion];
  return fold_multilingual(code_point, parts) == 0 ? CodePointClass::kIgnored : parts[0].kind;
}

/// Returns the next code point without moving on; 0 at the end.
char32_t peek(const char* at, const char* end) noexcept {
  return at < end ? decode_utf8(at, end) : 0;
}

bool is(char32_t code_point, char ascii) noexcept {
  constexpr char32_t kFullWidth = 0xFEE0;
  const auto wanted = static_cast<char32_t>(ascii);
  return code_point == wanted || code_point == wanted + kFullWidth;
}

}  // namespace

std::array<bool, 256> multilingual_dividers() noexcept {
  std::array<bool, 256> dividers{};
  for (char32_t ascii = 0; ascii < 0x80; ++ascii) {
    const bool ends_word = ascii != '#' && joiner_of(ascii).level == Joiner::Level::kNone;
    dividers[ascii] = ends_word && class_of(ascii) == CodePointClass::kSeparator;
  }
  return dividers;
}

void MultilingualScanner::scan(std::string_view utf8) {
  previous_ = 0;
  dot_.reset();
  text_ = utf8.data();
  const char* at = text_;
  const char* const end = at + utf8.size();
  const char* poll = cancel_ == nullptr ? end : at;
  while (at < end) {
    if (at >= poll) {
      cancel_->check();
      poll = at + std::min<std::ptrdiff_t>(kTextBytesPerPoll, end - at);
    }
    from_ = static_cast<std::size_t>(at - text_);
    const auto byte = static_cast<std::uint8_t>(*at);
    const char32_t code_point = byte < 0x80 ? static_cast<std::uint8_t>(*at++) : decode_utf8(at, end);
    to_ = static_cast<std::size_t>(at - text_);
    if (is_ascii_word(code_point)) {
      read_ascii(code_point);
    } else if (!read_symbol(code_point, at, end)) {
      read(code_point);
    }
  }
  from_ = to_ = utf8.size();
  end_run();
  compounds_.end(compound_visitor());
}

/// As read(), which looks the same up in tables.
void MultilingualScanner::read_ascii(char32_t code_point) {
  const bool upper = code_point >= 'A' && code_point <= 'Z';
  case_ = is_digit(code_point) ? Case::kNone : upper ? Case::kUpper : Case::kLower;
  end_marks();
  add_character({upper ? code_point - 'A' + 'a' : code_point, CodePointClass::kWord, false, false});
}

void MultilingualScanner::read(char32_t code_point) {
  if (joiner_of(code_point).level != Joiner::Level::kNone) {
    end_marks();
    return separate(code_point);
  }
  FoldedPart parts[multilingual::kMaxExpansion];
  if (code_point >= kFirstSubscript && code_point <= kLastSubscript) {
    const Decomposition letter = decompose(code_point);
    if (letter.second == kIotaSubscript) {
      read(letter.first);
      return read(letter.second);
    }
  }
  const std::size_t count = fold_multilingual(code_point, parts);
  const bool folded = count > 1 || (count == 1 && parts[0].code_point != code_point);
  case_ = code_point >= kLastCased || is_digit(code_point) ? Case::kNone : folded ? Case::kUpper : Case::kLower;
  for (std::size_t i = 0; i < count; ++i) {
    add(parts[i], combining_class(count == 1 ? code_point : parts[i].code_point));
  }
}

/// Reads the symbols that end a word like "C++" or "C#". Returns false if there are none here.
bool MultilingualScanner::read_symbol(char32_t code_point, const char*& at, const char* end) {
  const bool plus = is(code_point, '+') && is(peek(at, end), '+');
  if ((!plus && !is(code_point, '#')) || run_ != Run::kWord || unit_size_ == 0) return false;
  if (is_digit(unit_[unit_size_ - 1].code_point)) return false;
  const char* next = at;
  if (plus) decode_utf8(next, end);
  const char32_t after = peek(next, end);
  const bool number = plus && is_digit(after);  // "C++17"
  if (!number && (is(after, '+') || is(after, '#') || is(after, '_'))) return false;
  if (!number && after != 0 && class_of(after) == CodePointClass::kWord) return false;
  end_marks();
  const auto symbol_end = static_cast<std::size_t>(next - text_);
  const std::string_view symbol = plus ? "++" : "#";
  if (unit_size_ == 1 && unit_[0].code_point < 0x80) {  // "C" is another thing
    for (const char sign : symbol) append({static_cast<char32_t>(sign), CodePointClass::kWord, false, false});
    from_ = symbol_end;
    end_run();
  } else {
    const std::size_t from = unit_[0].from;
    const std::string whole = std::string(encode(unit_, unit_size_, word_)).append(symbol);
    end_run();
    visit(whole, TokenKind::kCompound, {from, symbol_end});
  }
  at = next;
  compounds_.join({number ? Joiner::Level::kWord : Joiner::Level::kNone, 0}, compound_visitor());
  previous_ = code_point;
  return true;
}

void MultilingualScanner::add(FoldedPart part, std::uint8_t combining_class) {
  if (combining_class > 0) {
    if (marks_.full()) end_marks();
    if (marks_.empty()) marks_from_ = from_;
    return marks_.add(part, combining_class);
  }
  end_marks();
  if (part.kind == CodePointClass::kSeparator) return separate(part.code_point);
  if (part.composes && join(part)) return;
  add_character(part);
}

void MultilingualScanner::end_marks() {
  if (marks_.empty()) return;
  if (unit_size_ > 0) {
    const FoldedPart last = marks_.attach_to(unit_[unit_size_ - 1].code_point);
    if (last.code_point != unit_[unit_size_ - 1].code_point) replace_last(last);
  }
  const CombiningMarks rest = marks_;
  marks_.clear();
  const Case next_case = std::exchange(case_, Case::kNone);
  const std::size_t next_from = std::exchange(from_, marks_from_);
  for (std::size_t i = 0; i < rest.size(); ++i) add_character(rest[i]);
  case_ = next_case;
  from_ = next_from;
}

void MultilingualScanner::add_character(FoldedPart part) {
  Run run = Run::kWord;
  switch (part.kind) {
    case CodePointClass::kDiacritic:
      if (run_ != Run::kWord) return;
      part.has_base = true;
      break;
    case CodePointClass::kIdeograph: run = Run::kIdeographs; break;
    case CodePointClass::kHangul: run = Run::kHangul; break;
    case CodePointClass::kComplexBase:
    case CodePointClass::kComplexMark: run = Run::kComplex; break;
    default: break;
  }
  if (run != run_) {
    end_run();
    if (run != Run::kWord) {
      compounds_.end(compound_visitor());
      dot_.reset();
    }
    run_ = run;
  } else if (run == Run::kComplex) {
    if (part.kind == CodePointClass::kComplexBase || unit_size_ == kMaxCluster) end_unit();
  } else if (run != Run::kWord) {
    end_unit();
  } else if (unit_bytes_ + utf8_size(part.code_point) > kMaxTokenBytes) {
    emit_word();
  }
  append(part);
}

// Composes the last code point and `part` into one, if Unicode defines a composition.
bool MultilingualScanner::join(FoldedPart part) {
  if (unit_size_ == 0) return false;
  const char32_t composed = compose(unit_[unit_size_ - 1].code_point, part.code_point);
  if (composed == 0) return false;
  FoldedPart parts[multilingual::kMaxExpansion];
  if (fold_multilingual(composed, parts) != 1) return false;
  replace_last(parts[0]);
  return true;
}

void MultilingualScanner::replace_last(FoldedPart part) {
  const Letter last = unit_[--unit_size_];
  unit_bytes_ -= utf8_size(last.code_point);
  // The composed code point may be longer than the base. Cut where the same text in composed form is cut.
  if (unit_bytes_ + utf8_size(part.code_point) > kMaxTokenBytes) emit_word();
  append(part);
  unit_[unit_size_ - 1].letter_case = last.letter_case;
  unit_[unit_size_ - 1].from = last.from;
}

// Ignores zero-width separators that not everyone types: the zero-width space in scripts without spaces, where it marks
// line breaks, and the non-joiner after letters that are not Arabic (only Persian divides words with it).
void MultilingualScanner::separate(char32_t separator) {
  if (separator == kZeroWidthSpace && run_ != Run::kWord) return;
  if (separator == kZeroWidthNonJoiner && (unit_size_ == 0 || !is_arabic(unit_[unit_size_ - 1].code_point))) return;
  const bool begins = run_ == Run::kNone && !compounds_.pending();
  const bool after_word = run_ == Run::kWord || compounds_.pending();
  end_run();
  compounds_.join(after_word ? joiner_of(separator) : Joiner{}, compound_visitor());
  const bool after_symbol = is(previous_, '.') || is(previous_, '#') || is(previous_, '+');
  dot_.reset();
  if (begins && is(separator, '.') && !after_symbol) dot_ = from_;
  previous_ = separator;
}

void MultilingualScanner::append(FoldedPart part) {
  unit_[unit_size_++] = {part.code_point, case_, from_};
  unit_bytes_ += utf8_size(part.code_point);
  has_base_ |= part.has_base;
}

void MultilingualScanner::end_unit() {
  if (unit_size_ == 0) return;
  const std::string_view unit = encode(unit_, unit_size_, pair_ + before_bytes_);
  unit_size_ = unit_bytes_ = 0;
  has_base_ = false;
  if (units_ > 0) {
    visit_pair({pair_, before_bytes_ + unit.size()}, TokenKind::kWord);
    if (run_ != Run::kComplex) visit_pair({pair_, before_bytes_}, TokenKind::kExtra);
    std::copy(unit.begin(), unit.end(), pair_);
  }
  before_bytes_ = unit.size();
  ++units_;
}

void MultilingualScanner::end_run() {
  end_marks();
  if (run_ == Run::kWord) {
    emit_word();
  } else if (run_ != Run::kNone) {
    end_unit();
    if (units_ == 1) {
      visit_pair({pair_, before_bytes_}, TokenKind::kWord);
    } else if (run_ != Run::kComplex) {
      visit_pair({pair_, before_bytes_}, TokenKind::kExtra);
    }
  }
  run_ = Run::kNone;
  units_ = before_bytes_ = 0;
}

void MultilingualScanner::emit_word() {
  const std::string_view token = encode(unit_, unit_size_, word_);
  const bool has_base = has_base_;
  const std::size_t count = std::exchange(unit_size_, 0);
  unit_bytes_ = 0;
  has_base_ = false;
  if (token.empty()) return;
  // A letter and what ends its word may be one code point, as in U+0140.
  const TokenPlace place{unit_[0].from, unit_[count - 1].from == from_ ? to_ : from_};
  compounds_.word(token, place, compound_visitor());
  visit(token, TokenKind::kWord, place);
  if (dot_) visit('.' + std::string(token), TokenKind::kCompound, {*dot_, place.end});
  dot_.reset();
  if (has_base) {
    const std::string base = base_form(token);
    emit_beginning(base, place);
    if (base != token && base.size() < kMaxTokenBytes) visit(kBaseFormMark + base, TokenKind::kExtra, place);
  } else {
    emit_beginning(token, place);
  }
  emit_case_parts(count, place.end);
}

void MultilingualScanner::emit_beginning(std::string_view base, TokenPlace place) {
  const std::string_view beginning = word_beginning(base);
  if (beginning.empty()) return;
  char marked[1 + kBeginningLetters * kMaxUtf8Bytes] = {kBeginningMark};
  std::copy(beginning.begin(), beginning.end(), marked + 1);
  visit({marked, 1 + beginning.size()}, TokenKind::kExtra, place);
}

/// Visits the parts of a word like "parseRecord" or "HTTPServer".
void MultilingualScanner::emit_case_parts(std::size_t count, std::size_t word_end) {
  constexpr std::size_t kMinPart = 2;  // letters; "I" of "iPhone" tells nothing
  std::size_t begin = 0;
  const auto upper = [&](std::size_t i) { return unit_[i].letter_case == Case::kUpper; };
  const auto visit_part = [&](std::size_t end, std::size_t place_end) {
    if (end - begin >= kMinPart) {
      visit(encode(unit_ + begin, end - begin, word_), TokenKind::kExtra, {unit_[begin].from, place_end});
    }
    begin = end;
  };
  for (std::size_t i = 1; i < count; ++i) {
    if (!upper(i)) continue;
    const bool after_capitals = upper(i - 1);
    const bool before_lower = i + 1 < count && unit_[i + 1].letter_case == Case::kLower;
    if (after_capitals ? before_lower : unit_[i - 1].letter_case == Case::kLower || before_lower) {
      visit_part(i, unit_[i].from);
    }
  }
  if (begin > 0) visit_part(count, word_end);
}

void MultilingualScanner::visit(std::string_view token, TokenKind kind, TokenPlace place) {
  place_ = place;
  visit_(token, kind);
}

}  // namespace lorekeep::text
