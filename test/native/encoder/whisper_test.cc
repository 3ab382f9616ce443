// Compares the pass with a plain one in double precision, and with itself on several threads. test/speech compares
// texts with those of whisper.cpp's encoder.
#include "encoder/whisper.h"

#include <cmath>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "encoder/kernel_sets.h"
#include "harness.h"

namespace lorekeep::encoder {
namespace {

// More frames than a part, the last part and the last panel of keys not whole.
constexpr WhisperShape kWhisperShape{16, 203, 64, 2};
constexpr std::size_t kWhisperLayers = 2;

using Frames = std::vector<std::vector<double>>;

struct PlainLinear {
  std::vector<float> weights;
  std::vector<float> bias;
  std::size_t inputs;

  Linear packed(Precision precision) const { return {weights, bias, inputs, bias.size(), precision}; }
  std::vector<double> apply(const std::vector<double>& in) const {
    std::vector<double> out(bias.begin(), bias.end());
    for (std::size_t n = 0; n < out.size(); ++n)
      for (std::size_t k = 0; k < inputs; ++k) out[n] += double{weights[n * inputs + k]} * in[k];
    return out;
  }
};

struct PlainLayer {
  Norm attention_norm;
  PlainLinear qkv;
  PlainLinear attention_output;
  Norm feed_forward_norm;
  PlainLinear up;
  PlainLinear down;
};

struct PlainWhisper {
  PlainLinear first;
  PlainLinear second;
  std::vector<float> positions;
  std::vector<PlainLayer> layers;
  Norm output_norm;

  WhisperWeights packed(Precision precision) const {
    WhisperWeights weights{.shape = kWhisperShape,
                           .first = first.packed(Precision::kF32),
                           .second = second.packed(Precision::kF32),
                           .positions = positions,
                           .layers = {},
                           .output_norm = output_norm};
    for (const PlainLayer& layer : layers)
      weights.layers.push_back({layer.attention_norm, layer.qkv.packed(precision),
                                layer.attention_output.packed(precision), layer.feed_forward_norm,
                                layer.up.packed(precision), layer.down.packed(precision)});
    return weights;
  }
};

std::vector<float> numbers(std::mt19937_64& random, std::size_t count, float scale) {
  std::uniform_real_distribution<float> uniform(-scale, scale);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

PlainWhisper random_whisper(std::mt19937_64& random) {
  const auto linear = [&](std::size_t inputs, std::size_t outputs) {
    return PlainLinear{numbers(random, inputs * outputs, 2 / std::sqrt(static_cast<float>(inputs))),
                       numbers(random, outputs, 0.1f), inputs};
  };
  const auto norm = [&] {
    return Norm{numbers(random, kWhisperShape.dimension, 1), numbers(random, kWhisperShape.dimension, 0.1f)};
  };
  PlainWhisper whisper{.first = linear(3 * kWhisperShape.mels, kWhisperShape.dimension),
                       .second = linear(3 * kWhisperShape.dimension, kWhisperShape.dimension),
                       .positions = numbers(random, kWhisperShape.frames * kWhisperShape.dimension, 0.3f),
                       .layers = {},
                       .output_norm = norm()};
  for (std::size_t i = 0; i < kWhisperLayers; ++i)
    whisper.layers.push_back({norm(), linear(kWhisperShape.dimension, 3 * kWhisperShape.dimension),
                              linear(kWhisperShape.dimension, kWhisperShape.dimension), norm(),
                              linear(kWhisperShape.dimension, kWhisperShape.feed_forward()),
                              linear(kWhisperShape.feed_forward(), kWhisperShape.dimension)});
  return whisper;
}

double gelu(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

std::vector<double> normalized(const std::vector<double>& row, const Norm& norm) {
  double mean = 0;
  double variance = 0;
  for (const double value : row) mean += value / static_cast<double>(row.size());
  for (const double value : row) variance += (value - mean) * (value - mean) / static_cast<double>(row.size());
  std::vector<double> out(row.size());
  for (std::size_t i = 0; i < row.size(); ++i)
    out[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * norm.weight[i] + norm.bias[i];
  return out;
}

/// A convolution of three steps with zeros around, and GELU.
Frames convolved(const Frames& in, const PlainLinear& linear, std::size_t stride) {
  Frames out;
  for (std::size_t t = 0; t < in.size(); t += stride) {
    std::vector<double> window;
    for (std::size_t tap = 0; tap < 3; ++tap) {
      const std::size_t at = t + tap;  // plus one
      const std::vector<double> row = at == 0 || at > in.size() ? std::vector<double>(in[0].size()) : in[at - 1];
      window.insert(window.end(), row.begin(), row.end());
    }
    out.push_back(linear.apply(window));
    for (double& value : out.back()) value = gelu(value);
  }
  return out;
}

std::vector<double> attended(const Frames& qkv, std::size_t frame) {
  const std::size_t width = kWhisperShape.dimension;
  const std::size_t size = kWhisperShape.head_size();
  std::vector<double> out(width);
  for (std::size_t head = 0; head < kWhisperShape.heads; ++head) {
    // Keys without a frame are zeros: exp(0) each.
    auto sum = static_cast<double>(kWhisperShape.keys() - kWhisperShape.frames);
    for (const std::vector<double>& other : qkv) {
      double score = 0;
      for (std::size_t i = 0; i < size; ++i) score += qkv[frame][head * size + i] * other[width + head * size + i];
      const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
      sum += weight;
      for (std::size_t i = 0; i < size; ++i) out[head * size + i] += weight * other[2 * width + head * size + i];
    }
    for (std::size_t i = 0; i < size; ++i) out[head * size + i] /= sum;
  }
  return out;
}

std::vector<double> plain_pass(const PlainWhisper& whisper, const std::vector<float>& mel) {
  const std::size_t length = 2 * kWhisperShape.frames;
  Frames frames(length, std::vector<double>(kWhisperShape.mels));
  for (std::size_t t = 0; t < length; ++t)
    for (std::size_t band = 0; band < kWhisperShape.mels; ++band) frames[t][band] = mel[band * length + t];
  Frames x = convolved(convolved(frames, whisper.first, 1), whisper.second, 2);
  for (std::size_t t = 0; t < x.size(); ++t)
    for (std::size_t i = 0; i < kWhisperShape.dimension; ++i)
      x[t][i] += whisper.positions[t * kWhisperShape.dimension + i];
  for (const PlainLayer& layer : whisper.layers) {
    Frames qkv;
    for (const std::vector<double>& row : x) qkv.push_back(layer.qkv.apply(normalized(row, layer.attention_norm)));
    for (std::size_t t = 0; t < x.size(); ++t) {
      const std::vector<double> added = layer.attention_output.apply(attended(qkv, t));
      for (std::size_t i = 0; i < added.size(); ++i) x[t][i] += added[i];
      std::vector<double> hidden = layer.up.apply(normalized(x[t], layer.feed_forward_norm));
      for (double& value : hidden) value = gelu(value);
      const std::vector<double> fed = layer.down.apply(hidden);
      for (std::size_t i = 0; i < fed.size(); ++i) x[t][i] += fed[i];
    }
  }
  std::vector<double> out;
  for (const std::vector<double>& row : x) {
    const std::vector<double> last = normalized(row, whisper.output_norm);
    out.insert(out.end(), last.begin(), last.end());
  }
  return out;
}

std::vector<float> pass(WhisperRun& run, const std::vector<float>& mel, std::size_t threads = 1) {
  std::vector<float> out(kWhisperShape.frames * kWhisperShape.dimension);
  run.begin(mel.data(), out.data());
  for (std::size_t stage = 0; stage < run.stages(); ++stage) {
    std::vector<std::thread> team;
    for (std::size_t i = 1; i < threads; ++i) team.emplace_back([&run, stage, i] { run.compute(stage, i); });
    run.compute(stage, 0);
    for (std::thread& thread : team) thread.join();
  }
  return out;
}

double largest_difference(const std::vector<float>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST("every set computes the pass as it is defined, in 8 bits nearly") {
  std::mt19937_64 random(test::seed());
  const PlainWhisper whisper = random_whisper(random);
  const std::vector<float> mel = numbers(random, kWhisperShape.mels * 2 * kWhisperShape.frames, 1);
  const std::vector<double> expected = plain_pass(whisper, mel);
  const WhisperWeights exact = whisper.packed(Precision::kF32);
  const WhisperWeights quantized = whisper.packed(Precision::kQ8);
  for (const EncoderKernels* set : available_kernels()) {
    WhisperRun run(exact, *set, nullptr, 1);
    CHECK(largest_difference(pass(run, mel), expected) < 1e-3);
    if (set->gemm_bf16 != nullptr) {
      WhisperRun rounded(exact, *set, set, 1);
      CHECK(largest_difference(pass(rounded, mel), expected) < 0.03);
    }
    if (set->gemm_q8 == nullptr) continue;
    WhisperRun coarse(quantized, *set, nullptr, 1);
    CHECK(largest_difference(pass(coarse, mel), expected) < 0.1);
  }
}

TEST("a pass is the same, bit by bit, on any number of threads, and after one that was given up at any stage") {
  std::mt19937_64 random(test::seed());
  const WhisperWeights weights = random_whisper(random).packed(Precision::kF32);
  const std::vector<float> mel = numbers(random, kWhisperShape.mels * 2 * kWhisperShape.frames, 1);
  const std::vector<float> other = numbers(random, kWhisperShape.mels * 2 * kWhisperShape.frames, 1);
  WhisperRun run(weights, *available_kernels().back(), nullptr, 3);
  const std::vector<float> expected = pass(run, mel);
  CHECK(pass(run, mel, 3) == expected);
  std::vector<float> unused(expected.size());
  for (std::size_t last = 0; last < run.stages(); ++last) {
    run.begin(other.data(), unused.data());
    for (std::size_t stage = 0; stage <= last; ++stage) run.compute(stage, 0);
    CHECK(pass(run, mel, 2) == expected);
  }
}

}  // namespace
}  // namespace lorekeep::encoder
