#include "speech/segmenter.h"

#include <algorithm>
#include <random>
#include <string>

#include "harness.h"
#include "speech/voice_model.h"

namespace lorekeep::speech {
namespace {

constexpr VoiceSettings kSettings{.5f, .35f, 96, 160, 32, 3200};

// A window of speech for each S, of silence for each dot, and of something between for each -.
std::string events_of(const std::string& windows, const VoiceSettings& settings = kSettings) {
  Segmenter segmenter(settings);
  std::vector<VoiceEvent> events;
  for (const char window : windows) segmenter.next(window == 'S' ? .9f : window == '-' ? .4f : .1f, events);
  segmenter.finish(windows.size() * kWindow, events);
  std::string text;
  for (const VoiceEvent& event : events) {
    const bool started = event.kind == VoiceEvent::Kind::kStarted;
    text += (started ? " +" : " -") + std::to_string((started ? event.audio_begin : event.audio_end) / kWindow);
    if (event.cut) text += "cut";
  }
  return text;
}

TEST("a segment begins with its first window, and ends with the first of a long silence") {
  CHECK_EQ(events_of("...SSSSS......."), " +2 -9");
  CHECK_EQ(events_of("...SSS..SSS-..-......."), " +2 -13");
}

TEST("short speech is none, except at the end of the stream") {
  CHECK_EQ(events_of("...SS.........."), "");
  CHECK_EQ(events_of("......SSS"), " +5 -9");
  CHECK_EQ(events_of("......SS"), "");
}

TEST("a short sound in a pause does not move the end, and speech in it does") {
  VoiceSettings settings = kSettings;
  settings.min_speech_ms = 256;   // 8 windows
  settings.min_silence_ms = 400;  // 11 windows, without the lag
  settings.max_segment_ms = 30'000;
  const std::string speech(10, 'S');
  const std::string plain = events_of(speech + std::string(30, '.'), settings);
  CHECK_EQ(plain, " +0 -11");
  // Sounds of 1 to 3 windows, early and late in the pause, and two of them; they begin no segment of their own.
  for (const std::string sound : {"S", "SS", "SSS", "S-S-", "SS......SS"})
    for (const std::size_t at : {1, 3, 7, 9})
      CHECK_EQ(events_of(speech + std::string(at, '.') + sound + std::string(30, '.'), settings), plain);
  // The silence that ends the segment counts from the speech, and the sound delays its end by its own length at most.
  std::vector<VoiceEvent> events;
  Segmenter segmenter(settings);
  for (const char window : speech + ".....SSS" + "...") segmenter.next(window == 'S' ? .9f : .1f, events);
  CHECK_EQ(events.size(), std::size_t{2});
  CHECK_EQ(events.back().end, 10 * kWindow - Segmenter::kEndLag);
  // Speech that goes on is heard from its beginning, also where the pause would have ended meanwhile.
  CHECK_EQ(events_of(speech + "....SSSS" + std::string(30, '.'), settings), " +0 -19");
  CHECK_EQ(events_of(speech + std::string(10, '.') + "SS.SS" + std::string(30, '.'), settings), " +0 -26");
  // The last word of a stream is one.
  CHECK_EQ(events_of(speech + "....SSS", settings), " +0 -17");
  CHECK_EQ(events_of(speech + "....SS", settings), " +0 -11");
}

TEST("a cut in a pause keeps the beginning of speech that may go on") {
  VoiceSettings settings = kSettings;
  settings.min_silence_ms = 800;
  settings.max_segment_ms = 1024;  // 32 windows
  CHECK_EQ(events_of(std::string(20, 'S') + std::string(10, '.') + std::string(20, 'S'), settings),
           " +0 -21cut +29 -50");
}

TEST("probabilities between the thresholds end nothing and begin nothing") {
  CHECK_EQ(events_of("---------"), "");
  CHECK_EQ(events_of("SSSS---------S"), " +0 -14");
}

TEST("padding never reaches into the segment before, nor behind the end") {
  const VoiceSettings wide{.5f, .35f, 32, 128, 96, 3200};
  CHECK_EQ(events_of("SS..SS..", wide), " +0 -4 +4 -8");
}

TEST("a long segment is cut at its longest pause, or where speech is least probable") {
  VoiceSettings settings = kSettings;
  settings.max_segment_ms = 1024;  // 32 windows
  const std::string speech = std::string(20, 'S') + ".." + std::string(20, 'S');
  CHECK_EQ(events_of(speech + "......", settings), " +0 -21cut +21 -43");
  CHECK_EQ(events_of(std::string(24, 'S') + "-" + std::string(15, 'S'), settings), " +0 -24cut +24 -40");
  CHECK_EQ(events_of(std::string(40, 'S'), settings), " +0 -31cut +31 -40");
  // The pause that runs may be the end, and then nothing is cut.
  CHECK_EQ(events_of(std::string(30, 'S') + "........", settings), " +0 -31");
  settings.min_silence_ms = 800;
  CHECK_EQ(events_of(std::string(20, 'S') + std::string(40, '.'), settings), " +0 -21");
  // Where it is not, it is the place, however long an earlier one was.
  CHECK_EQ(events_of(std::string(5, 'S') + std::string(15, '.') + std::string(10, 'S') + "....SSSSS", settings),
           " +0 -31cut +33 -39");
}

TEST("begin and end of speech take off how late the probability rises and falls") {
  Segmenter segmenter(kSettings);
  std::vector<VoiceEvent> events;
  for (const char window : std::string("....SSSSSSSS........")) segmenter.next(window == 'S' ? .9f : .1f, events);
  CHECK_EQ(events.size(), std::size_t{2});
  CHECK_EQ(events[0].begin, 4 * kWindow - Segmenter::kBeginLag);
  CHECK_EQ(events[1].begin, events[0].begin);
  CHECK_EQ(events[1].end, 12 * kWindow - Segmenter::kEndLag);
  CHECK_EQ(events[1].audio_begin, 3 * kWindow);
  CHECK_EQ(events[1].audio_end, 13 * kWindow);
}

TEST("segments follow each other, whatever the windows") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const VoiceSettings settings{.5f,
                                 .1f + .1f * static_cast<float>(random() % 4),
                                 static_cast<std::uint32_t>(random() % 200),
                                 static_cast<std::uint32_t>(random() % 400),
                                 static_cast<std::uint32_t>(random() % 300),
                                 1000 + static_cast<std::uint32_t>(random() % 1000)};
    Segmenter segmenter(settings);
    std::vector<VoiceEvent> events;
    const std::size_t count = random() % 300;
    float probability = .5f;
    for (std::size_t i = 0; i < count; ++i) {
      probability = std::clamp(probability + .4f * (static_cast<float>(random() % 1000) / 1000 - .5f), 0.0f, 1.0f);
      segmenter.next(probability, events);
    }
    segmenter.finish(count * kWindow, events);
    std::uint64_t end = 0;
    std::uint64_t audio_end = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const VoiceEvent& event = events[i];
      CHECK(event.kind == (i % 2 == 0 ? VoiceEvent::Kind::kStarted : VoiceEvent::Kind::kEnded));
      CHECK(event.begin >= end && event.audio_begin >= audio_end);
      if (i % 2 == 0) continue;
      CHECK(event.begin == events[i - 1].begin && event.audio_begin == events[i - 1].audio_begin);
      CHECK(event.end >= event.begin && event.audio_end >= event.audio_begin);
      CHECK(event.end <= count * kWindow && event.audio_end <= count * kWindow);
      if (event.cut) CHECK(i + 1 < events.size());
      end = event.end;
      audio_end = event.audio_end;
    }
    CHECK_EQ(events.size() % 2, std::size_t{0});
  }
}

}  // namespace
}  // namespace lorekeep::speech
