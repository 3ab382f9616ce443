#include "speech/whisper_file.h"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace lorekeep::speech {
namespace {

constexpr std::uint32_t kFourierBins = 201;
constexpr std::uint32_t kLongestToken = 1024;    // bytes
constexpr std::uint32_t kEncodedVersion = 1000;  // ftype holds the version of the quantisation times this

// ggml's file types and the tensor types that weights of such a file have.
bool is_file_type(std::uint32_t type) noexcept {
  switch (type) {
    case 0:   // F32
    case 1:   // F16
    case 2:   // Q4_0
    case 3:   // Q4_1
    case 7:   // Q8_0
    case 8:   // Q5_0
    case 9:   // Q5_1
    case 10:  // Q2_K
    case 11:  // Q3_K
    case 12:  // Q4_K
    case 13:  // Q5_K
    case 14:  // Q6_K
      return true;
    default: return false;
  }
}

WhisperShape read_shape(TensorFile& file) {
  WhisperShape shape{};
  shape.vocabulary = file.number("the size of the vocabulary", 51'864, 51'866);
  shape.audio_context = file.number("the context of the encoder", 1500, 1500);
  shape.audio_state = file.number("the width of the encoder", 64, 2048);
  shape.audio_heads = file.number("the number of the encoder's heads", 1, 64);
  shape.audio_layers = file.number("the number of the encoder's layers", 1, 64);
  shape.text_context = file.number("the context of the decoder", 448, 448);
  shape.text_state = file.number("the width of the decoder", 64, 2048);
  shape.text_heads = file.number("the number of the decoder's heads", 1, 64);
  shape.text_layers = file.number("the number of the decoder's layers", 1, 64);
  shape.mels = file.number("the number of mel bands", 80, 128);
  const std::uint32_t type = file.number() % kEncodedVersion;
  if (shape.audio_state != shape.text_state) file.invalid("encoder and decoder have different widths");
  if (shape.audio_state % shape.audio_heads != 0 || shape.text_state % shape.text_heads != 0 ||
      shape.audio_state / shape.audio_heads != 64 || shape.text_state / shape.text_heads != 64)
    file.invalid("heads are not 64 wide, as those of all Whisper models are");
  if (shape.mels != 80 && shape.mels != 128) file.invalid("has neither 80 nor 128 mel bands");
  if (!is_file_type(type)) file.invalid("has the unknown file type " + std::to_string(type));
  return shape;
}

void check_filters(const TensorFile& file, std::span<const std::byte> floats) {
  for (std::size_t at = 0; at < floats.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, floats.data() + at, sizeof(value));
    if (!std::isfinite(value)) file.invalid("has mel filters that are not numbers");
  }
}

void check_vocabulary(TensorFile& file, const WhisperShape& shape) {
  const std::uint32_t count = file.number("the number of tokens", 1, shape.vocabulary);
  bool has_space = false;
  for (std::uint32_t i = 0; i < count; ++i)
    if (file.text(file.number("the length of a token", 0, kLongestToken)) == " ") has_space = true;
  // whisper.cpp looks it up at the beginning of each text.
  if (!has_space) file.invalid("has no token for a space");
}

}  // namespace

WhisperFile check_whisper(TensorFile& file) {
  WhisperShape shape = read_shape(file);
  const std::uint32_t mels = file.number("the number of mel filters", shape.mels, shape.mels);
  const std::uint32_t bins = file.number("the length of a mel filter", kFourierBins, kFourierBins);
  check_filters(file, file.take(std::uint64_t{mels} * bins * sizeof(float)));
  check_vocabulary(file, shape);
  Tensors tensors(file, "Whisper");
  for (const auto& [name, tensor] : tensors.all()) {
    check_finite(file, tensor);
    shape.parameters += tensor.elements();
  }
  // whisper.cpp takes a file without any tensor for a test.
  const std::size_t expected = 11 + std::size_t{shape.audio_layers} * 15 + std::size_t{shape.text_layers} * 24;
  if (tensors.all().size() != expected)
    file.invalid("has " + std::to_string(tensors.all().size()) + " tensors; a model of this shape has " +
                 std::to_string(expected));
  return {shape, std::move(tensors)};
}

}  // namespace lorekeep::speech
