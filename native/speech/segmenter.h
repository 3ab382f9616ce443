// Finds the beginning and the end of speech in a sequence of probabilities. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lorekeep::speech {

struct VoiceSettings {
  float threshold = 0.5f;                 // probability from which a window is speech
  float end_threshold = 0.35f;            // probability below which a window of speech is silence
  std::uint32_t min_speech_ms = 250;      // shorter speech is dropped
  std::uint32_t min_silence_ms = 400;     // shorter pauses do not end a segment
  std::uint32_t padding_ms = 160;         // of audio before and after a segment, for a recogniser
  std::uint32_t max_segment_ms = 30'000;  // a longer segment is cut at its longest pause
};

/// A change between silence and speech. Places are samples since the beginning of the stream.
struct VoiceEvent {
  enum class Kind : std::uint8_t { kStarted, kEnded };

  Kind kind;
  std::uint64_t begin = 0;  // of speech
  std::uint64_t end = 0;    // of speech; 0 for kStarted
  std::uint64_t audio_begin =
      0;                        // of the audio to recognise: it may begin earlier, and reaches into no other segment's
  std::uint64_t audio_end = 0;  // of the audio to recognise; 0 for kStarted
  float probability = 0;        // mean over the segment's windows so far
  bool cut = false;             // ended by max_segment_ms: the next segment starts at once
};

/// Events depend on the sequence alone. A segment starts with the first window at the threshold and is told once
/// min_speech_ms of it are there; it ends when the windows below end_threshold last min_silence_ms. In a pause of a
/// told segment, speech counts once kResume windows of it are there, or min_speech_ms if that is less: a shorter sound,
/// such as a click, neither ends the pause nor begins it anew. A segment whose max_segment_ms are over in a pause is
/// cut there if speech goes on, and ends with the pause if it does not. Silero's probability rises kBeginLag after
/// speech begins and falls kEndLag after it ends (medians over utterances in noise, bench/speech): begin and end of
/// events take that into account, and so does the length of silence.
class Segmenter {
 public:
  static constexpr std::uint64_t kBeginLag = 720;  // samples: 45 ms
  static constexpr std::uint64_t kEndLag = 1216;   // samples: 76 ms
  static constexpr std::uint64_t kResume = 4;      // windows: sounds of up to 90 ms have fewer
  /// Windows below the threshold after which a sound in a pause has ended.
  static constexpr std::uint64_t kGap = 3;

  explicit Segmenter(const VoiceSettings& settings);

  /// Takes the probability of the next window; appends events.
  void next(float probability, std::vector<VoiceEvent>& events);
  /// Ends the stream after `samples` samples; appends the end of a running segment.
  void finish(std::uint64_t samples, std::vector<VoiceEvent>& events);
  /// Whether a told segment runs.
  bool speaking() const noexcept { return told_; }

 private:
  /// Where a segment may end. All are windows.
  struct Pause {
    std::uint64_t speech_end;  // after the last window at the threshold
    std::uint64_t begin;       // the first window below end_threshold
    std::uint64_t end;         // the next window at the threshold
  };
  /// A sound in a pause. All are windows.
  struct Burst {
    std::uint64_t begin;  // the first one at the threshold
    std::uint64_t end;    // after the last one at the threshold
    std::uint64_t count;  // at the threshold
  };
  struct End {
    std::uint64_t speech;  // samples
    std::uint64_t audio;   // samples
    bool cut;
  };

  void start(std::uint64_t window, bool exact, float probability);
  void hear_speech();
  void hear_silence(float probability);
  void tell(std::vector<VoiceEvent>& events);
  void close(const End& end, std::vector<VoiceEvent>& events);
  void cut(float probability, std::vector<VoiceEvent>& events);
  bool is_overdue() const noexcept;
  End end_at(const Pause& pause, bool cut) const noexcept;
  VoiceEvent event(VoiceEvent::Kind kind) const noexcept;

  VoiceSettings settings_;
  std::uint64_t min_speech_;   // in windows
  std::uint64_t min_silence_;  // in windows
  std::uint64_t resume_;       // in windows
  std::uint64_t max_segment_;  // in windows
  std::uint64_t padding_;      // in samples

  std::uint64_t window_ = 0;  // number of windows so far
  bool running_ = false;
  bool told_ = false;
  std::uint64_t begin_ = 0;               // window of the first speech
  bool exact_begin_ = false;              // a cut, so that no lag is to be taken off
  std::uint64_t last_end_ = 0;            // in samples, of the segment before
  std::uint64_t last_audio_end_ = 0;      // in samples, of the segment before
  std::uint64_t speech_end_ = 0;          // after the last window at the threshold
  std::optional<std::uint64_t> silence_;  // window in which the running pause began
  std::optional<Burst> burst_;            // in the running pause
  std::optional<Pause> longest_;          // pause in the segment, for a cut
  std::optional<std::uint64_t> weakest_;  // window of the least probability in the segment's second half, for a cut
  float least_ = 0;                       // its probability
  double sum_ = 0;
  std::uint64_t counted_ = 0;
};

}  // namespace lorekeep::speech
