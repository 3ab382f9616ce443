#include "text/multilingual.h"

#include "core/values/utf8.h"
#include "text/word_beginning.h"

namespace lorekeep::text {
namespace {

// A character with more marks than this is split: no orthography needs more.
constexpr std::size_t kMaxCluster = 8;

std::size_t utf8_size(char32_t code_point) noexcept {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

std::string encode(const char32_t* code_points, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    char bytes[kMaxUtf8Bytes];
    text.append(bytes, encode_utf8(code_points[i], bytes));
  }
  return text;
}

}  // namespace

void MultilingualScanner::scan(std::string_view utf8) {
  const char* at = utf8.data();
  const char* const end = at + utf8.size();
  while (at < end) {
    FoldedPart parts[multilingual::kMaxExpansion];
    const std::size_t count = fold_multilingual(decode_utf8(at, end), parts);
    for (std::size_t i = 0; i < count; ++i) add(parts[i]);
  }
  end_run();
}

void MultilingualScanner::add(FoldedPart part) {
  if (part.kind == CodePointClass::kSeparator) return separate(part.code_point);
  if (part.composes && join(part)) return;
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
  const char32_t last = unit_[unit_size_ - 1];
  const char32_t composed = compose(last, part.code_point);
  if (composed == 0) return false;
  FoldedPart parts[multilingual::kMaxExpansion];
  if (fold_multilingual(composed, parts) != 1) return false;
  --unit_size_;
  unit_bytes_ -= utf8_size(last);
  // The composed code point may be longer than the base. Cut where the same text in composed form is cut.
  if (unit_bytes_ + utf8_size(parts[0].code_point) > kMaxTokenBytes) emit_word();
  append(parts[0]);
  return true;
}

// Ignores zero-width separators that not everyone types: the zero-width space in scripts without spaces, where it marks
// line breaks, and the non-joiner after letters that are not Arabic (only Persian divides words with it).
void MultilingualScanner::separate(char32_t separator) {
  if (separator == kZeroWidthSpace && run_ != Run::kWord) return;
  if (separator == kZeroWidthNonJoiner && (unit_size_ == 0 || !is_arabic(unit_[unit_size_ - 1]))) return;
  end_run();
}

void MultilingualScanner::append(FoldedPart part) {
  unit_[unit_size_++] = part.code_point;
  unit_bytes_ += utf8_size(part.code_point);
  has_base_ |= part.has_base;
}

void MultilingualScanner::end_unit() {
  if (unit_size_ == 0) return;
  std::string unit = encode(unit_, unit_size_);
  unit_size_ = unit_bytes_ = 0;
  has_base_ = false;
  if (units_ > 0) {
    visit_(before_ + unit, TokenKind::kWord);
    if (run_ != Run::kComplex) visit_(before_, TokenKind::kExtra);
  }
  before_ = std::move(unit);
  ++units_;
}

void MultilingualScanner::end_run() {
  if (run_ == Run::kWord) {
    emit_word();
  } else if (run_ != Run::kNone) {
    end_unit();
    if (units_ == 1) {
      visit_(before_, TokenKind::kWord);
    } else if (run_ != Run::kComplex) {
      visit_(before_, TokenKind::kExtra);
    }
  }
  run_ = Run::kNone;
  units_ = 0;
}

void MultilingualScanner::emit_word() {
  const std::string token = encode(unit_, unit_size_);
  const bool has_base = has_base_;
  unit_size_ = unit_bytes_ = 0;
  has_base_ = false;
  if (token.empty()) return;
  visit_(token, TokenKind::kWord);
  const std::string base = has_base ? base_form(token) : token;
  if (const auto beginning = word_beginning(base); !beginning.empty()) {
    visit_(kBeginningMark + std::string(beginning), TokenKind::kExtra);
  }
  if (base != token && base.size() < kMaxTokenBytes) visit_(kBaseFormMark + base, TokenKind::kExtra);
}

}  // namespace lorekeep::text
