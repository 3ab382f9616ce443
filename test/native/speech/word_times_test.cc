#include "speech/word_times.h"

#include <vector>

#include "harness.h"

using namespace lorekeep::speech;

namespace {

constexpr std::size_t kFramesOfWord = 20;

/// Loud frames for each word, with the quiet frames before it.
std::vector<float> loudness_with(const std::vector<std::size_t>& pauses) {
  std::vector<float> loudness;
  for (const std::size_t pause : pauses) {
    loudness.insert(loudness.end(), pause, 0.0f);
    loudness.insert(loudness.end(), kFramesOfWord, 0.5f);
  }
  return loudness;
}

}  // namespace

TEST("words are placed between the pauses of their segment") {
  const std::vector<float> loudness = loudness_with({25, 10, 40});
  // Whisper's times count the first pause as speech, and the second word has none.
  const std::vector<WordGuess> words{{5, 0}, {5, std::nullopt}, {5, 60}};
  const std::vector<WordPlace> places = place_words(loudness, words);
  CHECK_EQ(places.size(), std::size_t{3});
  std::size_t begin = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    begin += std::vector<std::size_t>{25, 10, 40}[i];
    CHECK_EQ(places[i].begin, begin);
    CHECK_EQ(places[i].end, begin + kFramesOfWord);
    begin += kFramesOfWord;
  }
}

TEST("each word has a frame, and none lies outside the segment") {
  for (const std::size_t frames : {1u, 2u, 3u, 7u, 100u}) {
    for (const float level : {0.0f, 0.3f}) {
      const std::vector<float> loudness(frames, level);
      const std::vector<WordGuess> words{{1, -30}, {0, std::nullopt}, {40, 5}, {3, 1000}};
      std::size_t last = 0;
      for (const WordPlace& place : place_words(loudness, words)) {
        CHECK(place.begin < place.end && place.end <= frames);
        CHECK(place.begin >= last);
        last = place.begin;
      }
    }
  }
}

TEST("words begin at spaces, and at whole characters where a language has none") {
  CHECK(begins_word("The", " quick", "en"));
  CHECK(!begins_word("qu", "ick", "en"));
  CHECK(!begins_word("", " The", "en"));
  CHECK(begins_word("\u706b\u661f", "\u306e", "ja"));
  CHECK(!begins_word("\u706b", "\u3002", "ja"));
  CHECK(!begins_word("\u706b\xe6\x98", "\x9f", "zh"));
  CHECK(!begins_word("\u706b", "\u306e", "ko"));
}

TEST("letters are counted by characters") {
  CHECK_EQ(letters_in("It's 7!"), std::size_t{4});
  CHECK_EQ(letters_in("\u706b\u00e9"), std::size_t{2});
}
