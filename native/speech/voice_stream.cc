#include "speech/voice_stream.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/values/error.h"

namespace lorekeep::speech {
namespace {

void expect(bool holds, const std::string& message) {
  if (!holds) fail(Code::kInvalidArgument, message);
}

std::uint32_t checked(const StreamFormat& format) {
  expect(format.rate >= Resampler::kMinRate && format.rate <= Resampler::kMaxRate,
         "rate: a rate from " + std::to_string(Resampler::kMinRate) + " to " + std::to_string(Resampler::kMaxRate) +
             " samples per second is expected, not " + std::to_string(format.rate));
  expect(format.channels >= 1 && format.channels <= StreamFormat::kMaxChannels,
         "channels: 1 to " + std::to_string(StreamFormat::kMaxChannels) + " are expected, not " +
             std::to_string(format.channels));
  return format.rate;
}

const VoiceSettings& checked(const VoiceSettings& settings) {
  expect(settings.threshold > 0 && settings.threshold <= 1, "threshold: a number above 0 and at most 1 is expected");
  expect(settings.end_threshold >= 0 && settings.end_threshold <= settings.threshold,
         "endThreshold: a number from 0 to the threshold is expected");
  expect(settings.max_segment_ms >= 1000 && settings.max_segment_ms > settings.min_speech_ms,
         "maxSegmentMs: at least 1000, and more than minSpeechMs, is expected");
  return settings;
}

}  // namespace

VoiceStream::VoiceStream(std::shared_ptr<const VoiceModel> model, const VoiceSettings& settings,
                         const StreamFormat& format)
    : model_(std::move(model)), format_(format), resampler_(checked(format)), segmenter_(checked(settings)) {}

VoiceResult VoiceStream::push(std::span<const float> samples, const CancelToken* cancel) {
  expect(!finished_, "the stream has ended");
  expect(samples.size() % format_.channels == 0, "samples: " + std::to_string(samples.size()) +
                                                     " values are no whole number of frames of " +
                                                     std::to_string(format_.channels) + " channels");
  finished_ = true;  // unless all of it is heard: windows are not undone
  std::vector<float> mono(samples.size() / format_.channels);
  for (std::size_t i = 0; i < mono.size(); ++i) {
    float sum = 0;
    for (std::size_t channel = 0; channel < format_.channels; ++channel) {
      const float value = samples[i * format_.channels + channel];
      sum += std::isfinite(value) ? std::clamp(value, -1.0f, 1.0f) : 0.0f;
    }
    mono[i] = sum / static_cast<float>(format_.channels);
  }
  VoiceResult result;
  resampler_.push(mono, result.samples);
  listen(result, cancel);
  finished_ = false;
  return result;
}

VoiceResult VoiceStream::finish(const CancelToken* cancel) {
  expect(!finished_, "the stream has ended");
  finished_ = true;
  VoiceResult result;
  resampler_.finish(result.samples);
  listen(result, cancel);
  if (!pending_.empty()) {
    // The rest of the last window is silence.
    std::array<float, kWindow> window{};
    std::copy(pending_.begin(), pending_.end(), window.begin());
    result.probabilities.push_back(model_->next(state_, window));
    segmenter_.next(result.probabilities.back(), result.events);
  }
  segmenter_.finish(total_, result.events);
  return result;
}

void VoiceStream::listen(VoiceResult& result, const CancelToken* cancel) {
  pending_.insert(pending_.end(), result.samples.begin(), result.samples.end());
  total_ += result.samples.size();
  std::size_t at = 0;
  for (; pending_.size() - at >= kWindow; at += kWindow) {
    if (cancel != nullptr) cancel->check();
    const std::span<const float, kWindow> window(pending_.data() + at, kWindow);
    result.probabilities.push_back(model_->next(state_, window));
    segmenter_.next(result.probabilities.back(), result.events);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace lorekeep::speech
