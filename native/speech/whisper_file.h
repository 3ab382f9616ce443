// Checks a file of Whisper weights before whisper.cpp reads it, which trusts the numbers in it. Pure.
#pragma once

#include <cstdint>

#include "speech/tensor_file.h"

namespace lorekeep::speech {

struct WhisperShape {
  std::uint32_t vocabulary;
  std::uint32_t audio_context;
  std::uint32_t audio_state;
  std::uint32_t audio_heads;
  std::uint32_t audio_layers;
  std::uint32_t text_context;
  std::uint32_t text_state;
  std::uint32_t text_heads;
  std::uint32_t text_layers;
  std::uint32_t mels;
  std::uint64_t parameters;

  /// Models with a language token in their vocabulary.
  bool multilingual() const noexcept { return vocabulary >= 51'865; }
};

struct WhisperFile {
  WhisperShape shape;
  Tensors tensors;
};

/// Reads the file to its end; the tensors lie in it. Throws Error(kModelInvalid), naming the file and the number or
/// tensor, for anything that is outside the shapes of Whisper, a tensor that is there twice or of another type than
/// whisper.cpp computes, values that are not finite, and bytes behind the last tensor.
WhisperFile check_whisper(TensorFile& file);

}  // namespace lorekeep::speech
