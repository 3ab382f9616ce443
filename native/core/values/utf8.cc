#include "core/values/utf8.h"

#include <cstdint>

namespace lorekeep {
namespace {

// A lead byte's number of continuation bytes, and the range of the first of them. The narrower ranges exclude overlong
// forms, surrogates and values beyond U+10FFFF. Source: Unicode, table 3-7.
struct Lead {
  std::uint8_t continuations;
  std::uint8_t low;
  std::uint8_t high;
};

Lead classify(std::uint8_t lead) noexcept {
  if (lead >= 0xC2 && lead <= 0xDF) return {1, 0x80, 0xBF};
  if (lead == 0xE0) return {2, 0xA0, 0xBF};
  if (lead == 0xED) return {2, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {2, 0x80, 0xBF};
  if (lead == 0xF0) return {3, 0x90, 0xBF};
  if (lead >= 0xF1 && lead <= 0xF3) return {3, 0x80, 0xBF};
  if (lead == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

constexpr char32_t kIllFormed = 0x110000;

// As decode_utf8(), but distinguishes ill-formed bytes from a U+FFFD in the text.
inline char32_t decode(const char*& at, const char* end) noexcept {
  const auto lead = static_cast<std::uint8_t>(*at++);
  if (lead < 0x80) return lead;
  const Lead rule = classify(lead);
  if (rule.continuations == 0) return kIllFormed;
  char32_t code_point = lead & (0x3Fu >> rule.continuations);
  for (int i = 0; i < rule.continuations; ++i) {
    if (at == end) return kIllFormed;
    const auto byte = static_cast<std::uint8_t>(*at);
    if (byte < (i == 0 ? rule.low : 0x80) || byte > (i == 0 ? rule.high : 0xBF)) return kIllFormed;
    code_point = (code_point << 6) | (byte & 0x3Fu);
    ++at;
  }
  return code_point;
}

}  // namespace

char32_t decode_utf8(const char*& at, const char* end) noexcept {
  const char32_t code_point = decode(at, end);
  return code_point == kIllFormed ? kReplacement : code_point;
}

std::size_t encode_utf8(char32_t code_point, char* out) noexcept {
  if (code_point < 0x80) {
    out[0] = static_cast<char>(code_point);
    return 1;
  }
  const std::size_t size = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  for (std::size_t i = size - 1; i > 0; --i) {
    out[i] = static_cast<char>(0x80 | (code_point & 0x3F));
    code_point >>= 6;
  }
  static constexpr std::uint8_t kLeadMark[] = {0, 0, 0xC0, 0xE0, 0xF0};
  out[0] = static_cast<char>(kLeadMark[size] | code_point);
  return size;
}

bool is_valid_utf8(std::string_view text) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    if (decode(at, end) == kIllFormed) return false;
  }
  return true;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char* const begin = at;
    if (decode(at, end) == kIllFormed) {
      repaired.append("\xEF\xBF\xBD");
    } else {
      repaired.append(begin, at);
    }
  }
  return repaired;
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  constexpr std::size_t kMaxContinuations = 3;
  std::size_t end = bytes;
  while (end > 0 && bytes - end < kMaxContinuations && (static_cast<std::uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace lorekeep
