#include "encoder/whisper.h"

#include <algorithm>
#include <cmath>

#include "encoder/attention.h"

namespace lorekeep::encoder {
namespace {

// Frames per part of a stage: as many as Linear rounds at a time, and whole panels of keys.
constexpr std::size_t kFrames = 96;
static_assert(kFrames % kLanes == 0);

constexpr std::size_t parts_of(std::size_t count, std::size_t part) {
  return (count + part - 1) / part;
}

}  // namespace

WhisperRun::WhisperRun(const WhisperWeights& weights, const EncoderKernels& kernels, const EncoderKernels* tiles,
                       std::size_t threads)
    : weights_(weights),
      kernels_(kernels),
      tiles_(tiles),
      convolved_((1 + 2 * weights.shape.frames) * weights.shape.dimension),
      x_(weights.shape.frames * weights.shape.dimension),
      queries_(weights.shape.frames * weights.shape.dimension),
      attended_(weights.shape.frames * weights.shape.dimension),
      scratch_(threads),
      next_(stages()) {
  const WhisperShape& shape = weights.shape;
  std::fill_n(convolved_.data(), shape.dimension, 0.0f);
  const std::size_t values = shape.keys() * shape.dimension;
  if (tiles != nullptr) {
    rounded_keys_ = Buffer<std::uint16_t>::zeroed(kKeyParts * values);
    rounded_values_ = Buffer<std::uint16_t>::zeroed(values);
  } else {
    keys_ = Buffer<float>::zeroed(values);
    values_ = Buffer<float>::zeroed(values);
  }
  std::size_t rounded = std::max(weights.first.scratch_bytes(), weights.second.scratch_bytes());
  for (const WhisperLayer& layer : weights.layers) {
    for (const Linear* linear : {&layer.qkv, &layer.attention_output, &layer.up, &layer.down})
      rounded = std::max(rounded, linear->scratch_bytes());
  }
  if (tiles != nullptr)
    rounded =
        std::max(rounded, kQueries * std::max(shape.keys(), kKeyParts * shape.head_size()) * sizeof(std::uint16_t));
  for (Scratch& scratch : scratch_) {
    scratch.rows.at_least(std::max(kFrames * shape.dimension, (kFrames + 2) * shape.mels));
    scratch.wide.at_least(kFrames * shape.feed_forward());
    scratch.scores.at_least(kQueries * shape.keys());
    scratch.rounded.at_least(rounded);
  }
}

void WhisperRun::begin(const float* mel, float* out) noexcept {
  mel_ = mel;
  out_ = out;
  for (std::atomic<std::size_t>& next : next_) next.store(0, std::memory_order_relaxed);
}

void WhisperRun::compute(std::size_t stage, std::size_t thread) {
  const WhisperShape& shape = weights_.shape;
  Scratch& scratch = scratch_[thread];
  const auto take = [&next = next_[stage]] { return next.fetch_add(1, std::memory_order_relaxed); };
  if (stage >= 2 && stage % 2 == 0) {
    const std::size_t blocks = parts_of(shape.frames, kQueries);
    for (std::size_t part = take(); part < shape.heads * blocks; part = take()) {
      const std::size_t begin = part % blocks * kQueries;
      attend_block(part / blocks, begin, std::min(kQueries, shape.frames - begin), scratch);
    }
    return;
  }
  const std::size_t frames = stage == 0 ? 2 * shape.frames : shape.frames;
  for (std::size_t begin = take() * kFrames; begin < frames; begin = take() * kFrames) {
    const std::size_t count = std::min(kFrames, frames - begin);
    if (stage == 0) {
      convolve_first(begin, count, scratch);
    } else if (stage == 1) {
      convolve_second(begin, count, scratch);
    } else {
      finish_layer(stage / 2 - 1, begin, count, scratch);
    }
  }
}

void WhisperRun::convolve_first(std::size_t begin, std::size_t count, Scratch& scratch) {
  const WhisperShape& shape = weights_.shape;
  const std::size_t length = 2 * shape.frames;
  float* turned = scratch.rows.data();  // frames begin - 1 to begin + count
  for (std::size_t band = 0; band < shape.mels; ++band) {
    const float* from = mel_ + band * length;
    for (std::size_t i = 0; i < count + 2; ++i) {
      const std::size_t frame = begin + i;  // plus one
      turned[i * shape.mels + band] = frame == 0 || frame > length ? 0.0f : from[frame - 1];
    }
  }
  float* to = convolved_.data() + (1 + begin) * shape.dimension;
  weights_.first.apply(kernels_, turned, shape.mels, count, to, false, scratch.rounded);
  kernels_.gelu(to, count * shape.dimension);
}

void WhisperRun::convolve_second(std::size_t begin, std::size_t count, Scratch& scratch) {
  const WhisperShape& shape = weights_.shape;
  const std::size_t width = shape.dimension;
  float* to = x_.data() + begin * width;
  weights_.second.apply(kernels_, convolved_.data() + 2 * begin * width, 2 * width, count, to, false, scratch.rounded);
  kernels_.gelu(to, count * width);
  const float* positions = weights_.positions.data() + begin * width;
  for (std::size_t i = 0; i < count * width; ++i) to[i] += positions[i];
  project(weights_.layers.front(), begin, count, scratch);
}

void WhisperRun::project(const WhisperLayer& layer, std::size_t begin, std::size_t count, Scratch& scratch) {
  const WhisperShape& shape = weights_.shape;
  const std::size_t width = shape.dimension;
  const std::size_t size = shape.head_size();
  normalize(layer.attention_norm, x_.data() + begin * width, count, scratch.rows.data());
  const float* made = scratch.wide.data();
  layer.qkv.apply(kernels_, scratch.rows.data(), count, scratch.wide.data(), false, scratch.rounded);
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(made + i * 3 * width, width, queries_.data() + (begin + i) * width);
  for (std::size_t head = 0; head < shape.heads; ++head) {
    const std::size_t at = head * shape.keys() * size;
    const float* keys = made + width + head * size;
    const float* values = keys + width;
    if (tiles_ != nullptr) {
      pack_keys(keys, 3 * width, begin, count, size, rounded_keys_.data() + kKeyParts * at);
      pack_values(values, 3 * width, begin, count, size, shape.keys(), rounded_values_.data() + at);
      continue;
    }
    pack_keys(keys, 3 * width, begin, count, size, keys_.data() + at);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(values + i * 3 * width, size, values_.data() + at + (begin + i) * size);
  }
}

void WhisperRun::attend_block(std::size_t head, std::size_t begin, std::size_t count, Scratch& scratch) {
  const WhisperShape& shape = weights_.shape;
  const std::size_t size = shape.head_size();
  const std::size_t at = head * shape.keys() * size;
  const std::size_t from = begin * shape.dimension + head * size;
  if (tiles_ != nullptr) {
    const Bf16Head rounded{rounded_keys_.data() + kKeyParts * at, rounded_values_.data() + at, shape.keys(), size};
    return attend(*tiles_, rounded, queries_.data() + from, shape.dimension, count, attended_.data() + from,
                  shape.dimension, scratch.scores.data(), scratch.rounded.as<std::uint16_t>());
  }
  attend(kernels_, {keys_.data() + at, values_.data() + at, size, shape.keys(), size}, queries_.data() + from,
         shape.dimension, count, attended_.data() + from, shape.dimension, scratch.scores.data());
}

void WhisperRun::finish_layer(std::size_t index, std::size_t begin, std::size_t count, Scratch& scratch) {
  const WhisperLayer& layer = weights_.layers[index];
  const std::size_t width = weights_.shape.dimension;
  float* x = x_.data() + begin * width;
  float* rows = scratch.rows.data();
  float* hidden = scratch.wide.data();
  layer.attention_output.apply(kernels_, attended_.data() + begin * width, count, x, true, scratch.rounded);
  normalize(layer.feed_forward_norm, x, count, rows);
  layer.up.apply(kernels_, rows, count, hidden, false, scratch.rounded);
  kernels_.gelu(hidden, count * weights_.shape.feed_forward());
  layer.down.apply(kernels_, hidden, count, x, true, scratch.rounded);
  if (index + 1 < weights_.layers.size()) {
    project(weights_.layers[index + 1], begin, count, scratch);
  } else {
    normalize(weights_.output_norm, x, count, out_ + begin * width);
  }
}

void WhisperRun::normalize(const Norm& norm, const float* from, std::size_t count, float* to) const {
  constexpr float kEpsilon = 1e-5f;
  const std::size_t width = weights_.shape.dimension;
  std::copy_n(from, count * width, to);
  for (std::size_t i = 0; i < count; ++i)
    kernels_.layer_norm(to + i * width, norm.weight.data(), norm.bias.data(), width, kEpsilon);
}

}  // namespace lorekeep::encoder
