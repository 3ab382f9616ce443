#include "text/utf8.h"

#include <cstdint>

namespace lorekeep::text {
namespace {

// What may follow a lead byte: how many continuation bytes, and the range of the first of them. The narrower ranges
// keep out overlong forms, surrogates and values beyond U+10FFFF. Source: Unicode, table 3-7.
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

}  // namespace

char32_t decode_utf8(const char*& at, const char* end) noexcept {
  const auto lead = static_cast<std::uint8_t>(*at++);
  if (lead < 0x80) return lead;
  const Lead rule = classify(lead);
  if (rule.continuations == 0) return kReplacement;
  char32_t code_point = lead & (0x3Fu >> rule.continuations);
  for (int i = 0; i < rule.continuations; ++i) {
    if (at == end) return kReplacement;
    const auto byte = static_cast<std::uint8_t>(*at);
    if (byte < (i == 0 ? rule.low : 0x80) || byte > (i == 0 ? rule.high : 0xBF)) return kReplacement;
    code_point = (code_point << 6) | (byte & 0x3Fu);
    ++at;
  }
  return code_point;
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

}  // namespace lorekeep::text
