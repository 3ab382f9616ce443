// Places the words of a segment of speech in its audio. Whisper's times of tokens are rough: they count pauses as
// speech, and put the first words before the audio begins. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace lorekeep::speech {

/// Samples of a frame at 16 kHz: 10 ms, the unit of Whisper's times.
constexpr std::size_t kTimeFrame = 160;

struct WordGuess {
  std::size_t letters;
  std::optional<std::ptrdiff_t> begin;  // Whisper's, in frames since the begin of the segment; may be before it
};

/// In frames since the begin of the segment.
struct WordPlace {
  std::size_t begin;
  std::size_t end;
};

/// Returns whether a token begins another word than the text before it: at a space; in languages without spaces (those
/// of whisper/tokenizer.py of OpenAI) at each token, but for signs that belong to the word before, once the bytes
/// before it are whole characters.
bool begins_word(std::string_view before, std::string_view piece, std::string_view language);

/// Number of letters and digits; all characters outside ASCII count.
std::size_t letters_in(std::string_view text) noexcept;

/// Returns the root mean square of each frame. The last frame may be short.
std::vector<float> loudness_of(std::span<const float> samples);

/// Returns the places of the words, in order, in a segment whose frames are this loud; at least one frame is expected.
/// Only loud frames count: they are divided in proportion to letters, moved towards Whisper's begins, and a word begins
/// after a pause if one is near. Words overlap only if there are fewer loud frames than words.
std::vector<WordPlace> place_words(std::span<const float> loudness, std::span<const WordGuess> words);

}  // namespace lorekeep::speech
