// The forward pass of Whisper's encoder (Radford, Kim, Xu, Brockman, McLeavey, Sutskever 2022): two convolutions over a
// spectrogram of 30 s, positions, and pre-norm layers in which every frame attends to every other. whisper.cpp is the
// reference for its results.
//
// The pass is a sequence of stages for a team of threads that wait for each other in between. Threads take parts of a
// stage as they come, so that one without a core delays the others by a part at most.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/values/buffer.h"
#include "encoder/bert.h"
#include "encoder/kernels.h"
#include "encoder/linear.h"

namespace lorekeep::encoder {

struct WhisperShape {
  std::size_t mels;       // bands of the spectrogram: a multiple of kLanes
  std::size_t frames;     // that the layers see; the spectrogram has twice as many
  std::size_t dimension;  // a multiple of kQ8Block
  std::size_t heads;      // divides `dimension` into multiples of kLanes

  std::size_t head_size() const noexcept { return dimension / heads; }
  std::size_t feed_forward() const noexcept { return 4 * dimension; }
  /// Keys that a frame attends to: whisper.cpp rounds up to multiples of 256, and those without a frame are zeros.
  std::size_t keys() const noexcept { return (frames + 255) / 256 * 256; }
};

struct WhisperLayer {
  Norm attention_norm;
  Linear qkv;  // queries, keys, values: 3 dimension outputs
  Linear attention_output;
  Norm feed_forward_norm;
  Linear up;
  Linear down;
};

/// The weights of a model. Immutable.
struct WhisperWeights {
  WhisperShape shape;
  /// Convolutions of three steps, as products with the three inputs side by side. The second has a stride of two.
  Linear first;                  // 3 mels -> dimension
  Linear second;                 // 3 dimension -> dimension
  std::vector<float> positions;  // frames x dimension
  std::vector<WhisperLayer> layers;
  Norm output_norm;
};

/// One pass at a time.
class WhisperRun {
 public:
  /// `tiles`: a set whose products in bf16 attention uses; null: it is in f32. Throws Error(kOutOfMemory). Nothing is
  /// allocated later.
  WhisperRun(const WhisperWeights& weights, const EncoderKernels& kernels, const EncoderKernels* tiles,
             std::size_t threads);

  std::size_t threads() const noexcept { return scratch_.size(); }
  /// Number of stages of the pass.
  std::size_t stages() const noexcept { return 2 + 2 * weights_.layers.size(); }

  /// Begins a pass. `mel`: mels x 2 frames; `out`: frames x dimension. Both stay until the last stage has ended.
  void begin(const float* mel, float* out) noexcept;
  /// Computes parts of a stage until none is left. Each stage is entered by any number of threads, [0, threads()), when
  /// all have left the one before.
  void compute(std::size_t stage, std::size_t thread);

 private:
  struct Scratch {
    Buffer<float> rows;
    Buffer<float> wide;  // queries, keys and values; or hidden values
    Buffer<float> scores;
    Buffer<std::byte> rounded;
  };

  void convolve_first(std::size_t begin, std::size_t count, Scratch& scratch);
  void convolve_second(std::size_t begin, std::size_t count, Scratch& scratch);
  void project(const WhisperLayer& layer, std::size_t begin, std::size_t count, Scratch& scratch);
  void attend_block(std::size_t head, std::size_t begin, std::size_t count, Scratch& scratch);
  void finish_layer(std::size_t index, std::size_t begin, std::size_t count, Scratch& scratch);
  void normalize(const Norm& norm, const float* from, std::size_t count, float* to) const;

  const WhisperWeights& weights_;
  const EncoderKernels& kernels_;
  const EncoderKernels* tiles_;
  const float* mel_ = nullptr;
  float* out_ = nullptr;
  Buffer<float> convolved_;  // 1 + 2 frames rows, the first of zeros
  Buffer<float> x_;          // the residual stream
  Buffer<float> queries_;
  // Of each head, packed, in one of the two forms.
  Buffer<float> keys_;
  Buffer<float> values_;
  Buffer<std::uint16_t> rounded_keys_;
  Buffer<std::uint16_t> rounded_values_;
  Buffer<float> attended_;
  std::vector<Scratch> scratch_;                // of each thread
  std::vector<std::atomic<std::size_t>> next_;  // part of each stage
};

}  // namespace lorekeep::encoder
