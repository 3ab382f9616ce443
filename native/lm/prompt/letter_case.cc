// Upper, lower and title case for the engine of chat templates, as Python's str has them.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "core/values/utf8.h"
#include "jinja/string.h"
#include "lm/prompt/letter_case_tables.gen.h"

namespace lorekeep::lm {
namespace {

constexpr char32_t kSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;

struct Tables {
  std::span<const std::int32_t> rows;    // first, count, step, difference
  std::span<const std::int32_t> longer;  // code point and the code points that it becomes
};

Tables tables_of(jinja::letter_case to) {
  switch (to) {
    case jinja::letter_case::upper: return {unicode::kUppercase, unicode::kUppercaseLonger};
    case jinja::letter_case::lower: return {unicode::kLowercase, unicode::kLowercaseLonger};
    case jinja::letter_case::title: return {unicode::kTitlecase, unicode::kTitlecaseLonger};
  }
  return {};
}

/// The last row of four numbers that begins with `code_point` or less; null if there is none.
const std::int32_t* row_before(std::span<const std::int32_t> rows, char32_t code_point) {
  std::size_t low = 0;
  std::size_t high = rows.size() / 4;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (static_cast<char32_t>(rows[4 * middle]) <= code_point)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? nullptr : &rows[4 * (low - 1)];
}

void append(std::string& text, char32_t code_point) {
  char bytes[kMaxUtf8Bytes];
  text.append(bytes, encode_utf8(code_point, bytes));
}

void append_in_case(std::string& text, char32_t code_point, const Tables& tables) {
  const std::int32_t* const longer = row_before(tables.longer, code_point);
  if (longer != nullptr && static_cast<char32_t>(longer[0]) == code_point) {
    for (int i = 1; i < 4 && longer[i] != 0; ++i) append(text, static_cast<char32_t>(longer[i]));
    return;
  }
  const std::int32_t* const row = row_before(tables.rows, code_point);
  if (row != nullptr) {
    const auto offset = static_cast<std::int32_t>(code_point) - row[0];
    if (offset < row[1] * row[2] && offset % row[2] == 0) {
      append(text, static_cast<char32_t>(static_cast<std::int32_t>(code_point) + row[3]));
      return;
    }
  }
  append(text, code_point);
}

bool has_case(char32_t code_point) {
  for (const auto to : {jinja::letter_case::upper, jinja::letter_case::lower}) {
    std::string text;
    std::string own;
    append_in_case(text, code_point, tables_of(to));
    append(own, code_point);
    if (text != own) return true;
  }
  return false;
}

}  // namespace
}  // namespace lorekeep::lm

namespace jinja {

std::string in_case(const std::string& text, letter_case to) {
  using namespace lorekeep;  // NOLINT
  const lm::Tables tables = lm::tables_of(to);
  std::string result;
  bool after_letter = false;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const char32_t code_point = decode_utf8(at, end);
    if (to == letter_case::lower && code_point == lm::kSigma && after_letter) {
      const char* next = at;
      const bool last = at == end || !lm::has_case(decode_utf8(next, end));
      lm::append(result, last ? lm::kFinalSigma : lm::kSigma + 32);
    } else {
      lm::append_in_case(result, code_point, tables);
    }
    after_letter =
        code_point >= 0x80 ? lm::has_case(code_point) : (code_point | 32u) >= 'a' && (code_point | 32u) <= 'z';
  }
  return result;
}

bool is_space_character(const std::string& character) {
  const char* at = character.data();
  const char32_t c = character.empty() ? U'x' : lorekeep::decode_utf8(at, at + character.size());
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace jinja
