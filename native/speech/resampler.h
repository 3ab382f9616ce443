// Converts audio of any usual rate to 16 kHz with a windowed sinc (J. O. Smith, "Digital Audio Resampling").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "speech/voice_model.h"

namespace lorekeep::speech {

/// Mono in, mono out, piece by piece: the output does not depend on how the input is cut.
class Resampler {
 public:
  static constexpr std::uint32_t kMinRate = 8'000;
  static constexpr std::uint32_t kMaxRate = 48'000;

  /// Precondition: rate in [kMinRate, kMaxRate].
  explicit Resampler(std::uint32_t rate);

  /// Appends the samples at 16 kHz that are known by now. At 16 kHz input is passed on.
  void push(std::span<const float> samples, std::vector<float>& output);
  /// Appends the last samples.
  void finish(std::vector<float>& output);

 private:
  void drain(std::vector<float>& output);
  float at(std::uint64_t numerator) const noexcept;

  std::uint32_t rate_;
  std::uint32_t up_;  // output samples per down_ input samples
  std::uint32_t down_;
  float cutoff_;              // of the filter, relative to the input's Nyquist frequency
  std::size_t half_;          // input samples on each side that the filter reads
  std::vector<float> table_;  // the right half of the filter, kSteps values per zero crossing
  std::vector<float> input_;  // samples that are still needed
  std::int64_t first_ = 0;    // number of the first of them
  std::uint64_t total_ = 0;   // input samples so far
  std::uint64_t produced_ = 0;
};

}  // namespace lorekeep::speech
