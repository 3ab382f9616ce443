#include "engine/utf8.h"

#include <cstddef>

namespace lorekeep::engine {
namespace {

struct Part {
  std::size_t size;  // bytes, at least 1
  bool valid;
};

unsigned byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

// The sequence that starts at `i`, by table 3-7 of the Unicode standard: the second byte's range depends on the first.
Part next_part(std::string_view text, std::size_t i) noexcept {
  const unsigned first = byte_at(text, i);
  if (first < 0x80) return {1, true};
  if (first < 0xC2 || first > 0xF4) return {1, false};
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  for (std::size_t n = 1; n < length; ++n) {
    if (i + n >= text.size()) return {n, false};
    const unsigned byte = byte_at(text, i + n);
    if (byte < low || byte > high) return {n, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

}  // namespace

bool is_valid_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const Part part = next_part(text, i);
    if (!part.valid) return false;
    i += part.size;
  }
  return true;
}

std::string repair_utf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Part part = next_part(text, i);
    repaired.append(part.valid ? text.substr(i, part.size) : std::string_view("\xEF\xBF\xBD"));
    i += part.size;
  }
  return repaired;
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  constexpr std::size_t kMostContinuation = 3;
  std::size_t end = bytes;
  while (end > 0 && bytes - end < kMostContinuation && (byte_at(text, end) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace lorekeep::engine
