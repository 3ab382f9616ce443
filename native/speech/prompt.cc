#include "speech/prompt.h"

namespace lorekeep::speech {
namespace {

bool is_blank(char byte) noexcept {
  return static_cast<unsigned char>(byte) <= ' ' || byte == 0x7f;
}

bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

}  // namespace

std::string tidy_prompt(std::string_view text) {
  if (text.size() > kUsedPromptBytes) {
    text.remove_prefix(text.size() - kUsedPromptBytes);
    while (!text.empty() && !begins_character(text.front())) text.remove_prefix(1);
  }
  std::string result;
  result.reserve(text.size());
  std::size_t word = 0;  // bytes
  for (const char byte : text) {
    // A character has at most four bytes.
    const bool is_long = word + 4 > kLongestPromptWord && begins_character(byte);
    if (is_blank(byte) || is_long) {
      if (result.empty() || result.back() != ' ') result += ' ';
      word = 0;
      if (is_blank(byte)) continue;
    }
    result += byte;
    ++word;
  }
  return result;
}

}  // namespace lorekeep::speech
