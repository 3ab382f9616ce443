// The encoder of a Whisper model, computed by native/encoder instead of whisper.cpp.
#pragma once

#include <cstddef>
#include <memory>

#include "encoder/whisper.h"
#include "speech/whisper_file.h"

namespace lorekeep::speech {

class WhisperEncoder {
 public:
  /// Returns null unless it is as exact as whisper.cpp and faster: for files of type Q8_0, on processors that multiply
  /// 8-bit numbers in 512-bit registers, the weights stay as they are. Throws Error: kModelInvalid, kOutOfMemory.
  static std::unique_ptr<WhisperEncoder> read(const WhisperFile& file);

  /// Allocates what passes with this many threads need. Throws Error(kOutOfMemory).
  void prepare(std::size_t threads);
  std::size_t stages() const noexcept { return 2 + 2 * weights_.layers.size(); }
  encoder::WhisperRun& run() noexcept { return *run_; }

 private:
  WhisperEncoder(encoder::WhisperWeights weights, const encoder::EncoderKernels& kernels)
      : weights_(std::move(weights)), kernels_(kernels) {}

  encoder::WhisperWeights weights_;
  const encoder::EncoderKernels& kernels_;
  std::unique_ptr<encoder::WhisperRun> run_;
};

}  // namespace lorekeep::speech
