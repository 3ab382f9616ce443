#include "text/compounds.h"

namespace lorekeep::text {
namespace {

bool is_digit(char byte) noexcept {
  return byte >= '0' && byte <= '9';
}

/// Signs that stay in the whole, because people write them or leave out the word: "AT&T", "ctrl+c", "ann@example".
bool is_kept(char sign) noexcept {
  return sign == '&' || sign == '+' || sign == '@';
}

bool may_repeat(char sign) noexcept {
  return sign == '_' || sign == '/' || sign == '\\' || sign == ':';
}

}  // namespace

Joiner joiner_of(char32_t code_point) noexcept {
  constexpr char32_t kFullWidthFirst = 0xFF01, kFullWidthLast = 0xFF5E, kFullWidth = 0xFEE0;
  if (code_point >= kFullWidthFirst && code_point <= kFullWidthLast) code_point -= kFullWidth;
  switch (code_point) {
    case '.': return {Joiner::Level::kWord, '.'};
    case '_': return {Joiner::Level::kWord, '_'};
    case '&': return {Joiner::Level::kWord, '&'};
    case '+': return {Joiner::Level::kWord, '+'};
    case '-':     // hyphen-minus
    case 0x058A:  // Armenian hyphen
    case 0x05BE:  // Hebrew maqaf
    case 0x2010:  // hyphen
    case 0x2011:  // non-breaking hyphen
    case 0x2012:  // figure dash
    case 0x2013:  // en dash
    case 0x2212:  // minus sign
    case 0xFE63:  // small hyphen-minus
      return {Joiner::Level::kWord, '-'};
    case '\'':
    case '`':
    case 0x00B4:  // acute accent
    case 0x02B9:
    case 0x02BA:
    case 0x02BB:
    case 0x02BC:
    case 0x02BD:
    case 0x02BE:
    case 0x02BF:  // letters in Unicode
    case 0x05F3:  // Hebrew geresh
    case 0x05F4:  // Hebrew gershayim
    case 0x2018:
    case 0x2019:
    case 0x201B:  // quotation marks
    case 0x2032:  // prime
      return {Joiner::Level::kWord, '\''};
    case 0x00B7:  // middle dot, as in Catalan
    case 0x2027:  // hyphenation point
      return {Joiner::Level::kWord, 0};
    case 0x200B:  // zero-width space
    case 0x200C:  // zero-width non-joiner
      return {Joiner::Level::kWord, 0};
    case '/': return {Joiner::Level::kPath, '/'};
    case '\\': return {Joiner::Level::kPath, '\\'};
    case ':': return {Joiner::Level::kPath, ':'};
    case '@': return {Joiner::Level::kPath, '@'};
    default: return {};
  }
}

bool Compounds::may_follow(Joiner joiner) const noexcept {
  if (pending_.level == Joiner::Level::kNone) return true;
  if (joiner.sign == 0) return true;
  return may_repeat(joiner.sign) && (may_repeat(pending_.sign) || pending_.sign == 0);
}

void Compounds::append(std::string_view word, TokenPlace place) {
  const char sign = pending_.sign;
  path_.append(word, sign, place);
  part_.append(word, sign, place);
  pending_ = {};
}

void Compounds::Whole::append(std::string_view word, char sign, TokenPlace at) {
  if (words == 0) {
    place = at;
  } else if (!text.empty() && is_digit(text.back()) && is_digit(word.front()) && sign != 0) {
    text += sign;
    numbered = true;
  } else if (is_kept(sign)) {
    text += sign;
  }
  ++words;
  place.end = at.end;
  too_long = too_long || text.size() + word.size() > kMaxCompoundBytes;
  if (too_long) {
    text.clear();
  } else {
    text += word;
  }
}

void Compounds::Whole::clear() noexcept {
  text.clear();
  words = 0;
  numbered = too_long = false;
}

}  // namespace lorekeep::text
