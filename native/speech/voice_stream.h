// One stream of audio: samples of any rate and number of channels in, probabilities and events of speech out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/cancel_token.h"
#include "speech/resampler.h"
#include "speech/segmenter.h"
#include "speech/voice_model.h"

namespace lorekeep::speech {

struct StreamFormat {
  std::uint32_t rate = kSampleRate;  // in [Resampler::kMinRate, Resampler::kMaxRate]
  std::uint32_t channels = 1;        // 1 to kMaxChannels; their mean is heard

  static constexpr std::uint32_t kMaxChannels = 8;
};

struct VoiceResult {
  std::vector<float> probabilities;  // one per window of 32 ms that is complete by now
  std::vector<VoiceEvent> events;
  /// The audio at 16 kHz, for a recogniser.
  std::vector<float> samples;
};

/// One call at a time. The results do not depend on how the samples are cut into calls.
class VoiceStream {
 public:
  /// Throws Error(kInvalidArgument) that names a setting or a format outside its range.
  VoiceStream(std::shared_ptr<const VoiceModel> model, const VoiceSettings& settings, const StreamFormat& format);

  /// Takes interleaved samples in [-1, 1]. A value that is not finite counts as silence, and one outside as clipped.
  /// Throws Error: kInvalidArgument for half a frame of several channels or after finish(); kCancelled. Grain: one
  /// window. A call that is cancelled ends the stream.
  VoiceResult push(std::span<const float> samples, const CancelToken* cancel = nullptr);
  /// Ends the stream.
  VoiceResult finish(const CancelToken* cancel = nullptr);

 private:
  void listen(VoiceResult& result, const CancelToken* cancel);

  std::shared_ptr<const VoiceModel> model_;
  StreamFormat format_;
  Resampler resampler_;
  Segmenter segmenter_;
  VoiceState state_;
  std::vector<float> pending_;  // at 16 kHz, less than a window
  std::uint64_t total_ = 0;     // samples at 16 kHz
  bool finished_ = false;
};

}  // namespace lorekeep::speech
