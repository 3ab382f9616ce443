#include "speech/segmenter.h"

#include <algorithm>

#include "speech/voice_model.h"

namespace lorekeep::speech {
namespace {

constexpr std::uint64_t kLastWord = 3;  // windows
constexpr std::uint64_t kWindowMs = kWindow * 1000 / kSampleRate;
constexpr std::uint32_t kEndLagMs = Segmenter::kEndLag * 1000 / kSampleRate;

/// Returns the number of windows that last at least `ms`.
std::uint64_t windows(std::uint32_t ms) noexcept {
  return std::max<std::uint64_t>(1, (ms + kWindowMs - 1) / kWindowMs);
}

/// Returns the number of windows below the threshold that a silence of `ms` has.
std::uint64_t silent_windows(std::uint32_t ms) noexcept {
  return windows(ms > kEndLagMs ? ms - kEndLagMs : 0);
}

std::uint64_t earlier(std::uint64_t place, std::uint64_t samples) noexcept {
  return place > samples ? place - samples : 0;
}

}  // namespace

Segmenter::Segmenter(const VoiceSettings& settings)
    : settings_(settings),
      min_speech_(windows(settings.min_speech_ms)),
      min_silence_(silent_windows(settings.min_silence_ms)),
      resume_(std::min(min_speech_, kResume)),
      max_segment_(windows(settings.max_segment_ms)),
      padding_(std::uint64_t{settings.padding_ms} * kSampleRate / 1000) {}

void Segmenter::start(std::uint64_t window, bool exact, float probability) {
  running_ = true;
  told_ = false;
  begin_ = window;
  exact_begin_ = exact;
  longest_.reset();
  weakest_.reset();
  sum_ = probability;
  counted_ = 1;
}

// Without its end.
VoiceEvent Segmenter::event(VoiceEvent::Kind kind) const noexcept {
  const std::uint64_t begin = begin_ * kWindow;
  VoiceEvent event{kind};
  event.begin = std::max(exact_begin_ ? begin : earlier(begin, kBeginLag), last_end_);
  event.audio_begin = std::max(exact_begin_ ? begin : earlier(begin, padding_), last_audio_end_);
  event.probability = static_cast<float>(sum_ / static_cast<double>(counted_));
  return event;
}

void Segmenter::tell(std::vector<VoiceEvent>& events) {
  told_ = true;
  events.push_back(event(VoiceEvent::Kind::kStarted));
}

void Segmenter::close(const End& end, std::vector<VoiceEvent>& events) {
  running_ = false;
  burst_.reset();
  if (!told_) return;
  told_ = false;
  VoiceEvent ended = event(VoiceEvent::Kind::kEnded);
  ended.end = last_end_ = std::max(end.speech, ended.begin);
  ended.audio_end = last_audio_end_ = std::max(end.audio, ended.audio_begin);
  ended.cut = end.cut;
  events.push_back(ended);
}

bool Segmenter::is_overdue() const noexcept {
  return window_ + 1 - begin_ >= max_segment_;
}

Segmenter::End Segmenter::end_at(const Pause& pause, bool cut) const noexcept {
  const std::uint64_t audio = std::min(pause.begin * kWindow + padding_, pause.end * kWindow);
  return {earlier(pause.speech_end * kWindow, kEndLag), audio, cut};
}

// At its longest pause if that is not at the very beginning, else where speech is least probable; it goes on from
// there.
void Segmenter::cut(float probability, std::vector<VoiceEvent>& events) {
  if (longest_ && longest_->begin > begin_ + min_speech_) {
    const Pause pause = *longest_;
    close(end_at(pause, true), events);
    start(pause.end, false, probability);
  } else {
    const std::uint64_t window = weakest_.value_or(window_ + 1);
    close({window * kWindow, window * kWindow, true}, events);
    start(window, true, probability);
  }
  tell(events);
}

void Segmenter::hear_speech() {
  if (silence_ && told_) {
    if (!burst_) burst_ = Burst{window_, window_, 0};
    burst_->end = window_ + 1;
    if (++burst_->count < resume_) return;
  }
  if (silence_) {
    const std::uint64_t end = burst_ ? burst_->begin : window_;
    const Pause pause{speech_end_, *silence_, end};
    if (!longest_ || is_overdue() || pause.end - pause.begin > longest_->end - longest_->begin) longest_ = pause;
  }
  silence_.reset();
  burst_.reset();
  speech_end_ = window_ + 1;
}

void Segmenter::hear_silence(float probability) {
  if (burst_ && window_ + 1 - burst_->end >= kGap) burst_.reset();
  if (probability < settings_.end_threshold && !silence_) silence_ = window_;
}

void Segmenter::next(float probability, std::vector<VoiceEvent>& events) {
  const bool speech = probability >= settings_.threshold;
  if (running_) {
    sum_ += probability;
    ++counted_;
  } else if (speech) {
    start(window_, false, probability);
    silence_.reset();
  }
  if (running_) {
    if (speech)
      hear_speech();
    else
      hear_silence(probability);
    if (window_ - begin_ > max_segment_ / 2 && (!weakest_ || probability <= least_)) {
      weakest_ = window_;
      least_ = probability;
    }
    if (!told_ && silence_.value_or(window_ + 1) - begin_ >= min_speech_) tell(events);
    if (silence_ && !burst_ && window_ + 1 - *silence_ >= min_silence_)
      close(end_at({speech_end_, *silence_, window_ + 1}, false), events);
    else if (!silence_ && is_overdue())
      cut(probability, events);
  }
  ++window_;
}

void Segmenter::finish(std::uint64_t samples, std::vector<VoiceEvent>& events) {
  if (!running_) return;
  // The last word of a stream counts although it is short: nothing comes after it.
  const std::uint64_t last_word = std::min(min_speech_, kLastWord);
  if (!told_ && silence_.value_or(window_) - begin_ >= last_word) tell(events);
  if (burst_ && burst_->count >= last_word) {
    speech_end_ = burst_->end;
    silence_ = burst_->end < window_ ? std::optional(burst_->end) : std::nullopt;
  }
  const End end = silence_ ? end_at({speech_end_, *silence_, window_}, false) : End{samples, samples, false};
  close({std::min(end.speech, samples), std::min(end.audio, samples), false}, events);
}

}  // namespace lorekeep::speech
