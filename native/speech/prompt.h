// Text before the speech, in a form that whisper.cpp's tokenizer takes in little time. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorekeep::speech {

/// Whisper takes the last 223 tokens; hardly any has more bytes than 16.
inline constexpr std::size_t kUsedPromptBytes = 4096;
/// whisper.cpp's tokenizer takes the square of a word's length.
inline constexpr std::size_t kLongestPromptWord = 128;

/// Returns the last kUsedPromptBytes of a text that is valid UTF-8, with one space for each run of spaces and control
/// characters, and a space in words that are longer than kLongestPromptWord bytes. Keeps characters whole.
std::string tidy_prompt(std::string_view text);

}  // namespace lorekeep::speech
