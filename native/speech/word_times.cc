#include "speech/word_times.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/values/utf8.h"

namespace lorekeep::speech {
namespace {

// A frame is loud above 40 dB below the loudest, and above the background: more than the quietest frames.
constexpr float kLoudShare = 0.01f;
constexpr double kQuietest = 0.02;
constexpr float kAboveBackground = 1.5f;
// Of background: where speech never pauses, the quietest frames are speech.
constexpr float kMostBackground = 0.25f;
// The rest is measured: docs/measurements/speech.md, "Times of words".
constexpr std::size_t kPause = 5;  // frames
constexpr double kLettersOfWord = 2;
constexpr double kWhispersShare = 0.3;

using namespace std::string_view_literals;
constexpr std::array kWithoutSpaces{"zh"sv, "ja"sv, "th"sv, "lo"sv, "my"sv, "yue"sv};
constexpr std::array kSignsBehind{"\u3002"sv, "\u3001"sv, "\uff0c"sv, "\uff0e"sv, "\uff01"sv, "\uff1f"sv,
                                  "\uff1a"sv, "\uff1b"sv, "\u300d"sv, "\u300f"sv, "\uff09"sv, "\u2026"sv,
                                  "\u201d"sv, "."sv,      ","sv,      "!"sv,      "?"sv};

/// The indexes of the loud frames; of all of them if none is.
std::vector<std::size_t> loud_frames(std::span<const float> loudness) {
  std::vector<float> sorted(loudness.begin(), loudness.end());
  std::sort(sorted.begin(), sorted.end());
  const float loudest = sorted.back();
  const float background =
      kAboveBackground * sorted[static_cast<std::size_t>(kQuietest * static_cast<double>(sorted.size()))];
  float least = kLoudShare * loudest;
  if (background < kMostBackground * loudest) least = std::max(least, background);
  std::vector<std::size_t> loud;
  for (std::size_t i = 0; i < loudness.size(); ++i)
    if (loudness[i] >= least) loud.push_back(i);
  return loud;
}

/// The first loud frame of each word, before pauses are looked at, and the number of loud frames.
std::vector<double> guessed_borders(std::span<const std::size_t> loud, std::span<const WordGuess> words) {
  double all = 0;
  for (const WordGuess& word : words) all += kLettersOfWord + static_cast<double>(word.letters);
  std::vector<double> borders{0};
  double sum = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    sum += kLettersOfWord + static_cast<double>(words[i - 1].letters);
    double border = sum / all * static_cast<double>(loud.size());
    if (words[i].begin) {
      const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(*words[i].begin, 0));
      const auto whispers = static_cast<double>(std::lower_bound(loud.begin(), loud.end(), from) - loud.begin());
      border += kWhispersShare * (whispers - border);
    }
    borders.push_back(std::max(borders.back(), border));
  }
  borders.push_back(static_cast<double>(loud.size()));
  return borders;
}

}  // namespace

bool begins_word(std::string_view before, std::string_view piece, std::string_view language) {
  if (before.empty() || piece.empty()) return false;
  if (piece.front() == ' ' || piece.front() == '\n' || piece.front() == '\t') return true;
  const auto has = [](const auto& list, std::string_view one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  return has(kWithoutSpaces, language) && is_valid_utf8(before) && !has(kSignsBehind, piece);
}

std::size_t letters_in(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char character) {
    const auto byte = static_cast<std::uint8_t>(character);
    const bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
    return byte >= 0xc0 || (byte < 0x80 && (is_letter || (byte >= '0' && byte <= '9')));
  }));
}

std::vector<float> loudness_of(std::span<const float> samples) {
  std::vector<float> loudness;
  for (std::size_t at = 0; at < samples.size(); at += kTimeFrame) {
    const auto frame = samples.subspan(at, std::min(kTimeFrame, samples.size() - at));
    float sum = 0;
    for (const float sample : frame) sum += sample * sample;
    loudness.push_back(std::sqrt(sum / static_cast<float>(frame.size())));
  }
  return loudness;
}

std::vector<WordPlace> place_words(std::span<const float> loudness, std::span<const WordGuess> words) {
  const std::vector<std::size_t> loud = loud_frames(loudness);
  std::vector<std::size_t> pauses;  // the loud frames behind them
  for (std::size_t i = 1; i < loud.size(); ++i)
    if (loud[i] - loud[i - 1] > kPause) pauses.push_back(i);
  const std::vector<double> guessed = guessed_borders(loud, words);
  std::vector<std::size_t> borders{0};
  for (std::size_t i = 1; i < words.size(); ++i) {
    double nearest = std::min(guessed[i + 1] - guessed[i], guessed[i] - static_cast<double>(borders.back()));
    std::optional<std::size_t> begin;
    for (const std::size_t pause : pauses) {
      const double distance = std::abs(static_cast<double>(pause) - guessed[i]);
      if (distance > nearest) continue;
      nearest = distance;
      begin = pause;
    }
    // Each word has a frame, if there are enough.
    const std::size_t first = borders.back() + 1;
    const std::size_t after = words.size() - i;
    const std::size_t last = loud.size() > after ? loud.size() - after : 0;
    borders.push_back(std::min(std::max(begin.value_or(static_cast<std::size_t>(std::lround(guessed[i]))), first),
                               std::max(last, borders.back())));
  }
  borders.push_back(loud.size());
  std::vector<WordPlace> places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t begin = std::min(borders[i], loud.size() - 1);
    const std::size_t end = std::max(borders[i + 1], begin + 1);
    places.push_back({loud[begin], loud[end - 1] + 1});
  }
  return places;
}

}  // namespace lorekeep::speech
