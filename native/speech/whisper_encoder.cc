#include "speech/whisper_encoder.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace lorekeep::speech {
namespace {

constexpr std::uint32_t kTaps = 3;  // steps of a convolution

class Reader {
 public:
  explicit Reader(const WhisperFile& file) : tensors_(file.tensors), width_(file.shape.audio_state) {}

  encoder::Norm norm(const std::string& name) const {
    return {tensors_.floats(name + ".weight", {width_}), tensors_.floats(name + ".bias", {width_})};
  }

  /// The taps of an output lie side by side in the file, its inputs here.
  encoder::Linear convolution(const std::string& name, std::uint32_t inputs) const {
    const std::vector<float> taps = tensors_.floats(name + ".weight", {kTaps, inputs, width_});
    std::vector<float> weights(taps.size());
    for (std::size_t output = 0; output < width_; ++output)
      for (std::size_t input = 0; input < inputs; ++input)
        for (std::size_t tap = 0; tap < kTaps; ++tap)
          weights[(output * kTaps + tap) * inputs + input] = taps[(output * inputs + input) * kTaps + tap];
    return {weights, tensors_.floats(name + ".bias", {width_}), std::size_t{kTaps} * inputs, width_,
            encoder::Precision::kF32};
  }

  encoder::Linear linear(const std::string& name, std::uint32_t inputs, std::uint32_t outputs) const {
    return {tensors_.floats(name + ".weight", {inputs, outputs}), tensors_.floats(name + ".bias", {outputs}), inputs,
            outputs, encoder::Precision::kQ8};
  }

  /// Keys have no bias.
  encoder::Linear qkv(const std::string& name) const {
    std::vector<float> weights;
    std::vector<float> bias;
    for (const char* part : {".query", ".key", ".value"}) {
      const std::vector<float> rows = tensors_.floats(name + part + ".weight", {width_, width_});
      weights.insert(weights.end(), rows.begin(), rows.end());
      const std::vector<float> offsets = part == std::string_view(".key")
                                             ? std::vector<float>(width_)
                                             : tensors_.floats(name + part + ".bias", {width_});
      bias.insert(bias.end(), offsets.begin(), offsets.end());
    }
    return {weights, bias, width_, 3 * std::size_t{width_}, encoder::Precision::kQ8};
  }

 private:
  const Tensors& tensors_;
  std::uint32_t width_;
};

bool is_matrix_of_a_layer(const TensorEntry& tensor) {
  return tensor.name.starts_with("encoder.blocks.") && tensor.shape.size() > 1;
}

}  // namespace

std::unique_ptr<WhisperEncoder> WhisperEncoder::read(const WhisperFile& file) {
  const encoder::EncoderKernels* kernels = encoder::kernels_named("avx512-vnni");
  const auto& tensors = file.tensors.all();
  const bool q8 = std::all_of(tensors.begin(), tensors.end(), [](const auto& named) {
    return !is_matrix_of_a_layer(named.second) || named.second.type == static_cast<std::uint32_t>(TensorType::kQ8_0);
  });
  if (kernels == nullptr || !q8) return nullptr;
  const WhisperShape& shape = file.shape;
  const std::uint32_t width = shape.audio_state;
  encoder::WhisperWeights weights;
  weights.shape = {shape.mels, shape.audio_context, width, shape.audio_heads};
  const Reader reader(file);
  weights.first = reader.convolution("encoder.conv1", shape.mels);
  weights.second = reader.convolution("encoder.conv2", width);
  weights.positions = file.tensors.floats("encoder.positional_embedding", {width, shape.audio_context});
  weights.output_norm = reader.norm("encoder.ln_post");
  const auto hidden = static_cast<std::uint32_t>(weights.shape.feed_forward());
  for (std::uint32_t i = 0; i < shape.audio_layers; ++i) {
    const std::string name = "encoder.blocks." + std::to_string(i);
    encoder::WhisperLayer layer;
    layer.attention_norm = reader.norm(name + ".attn_ln");
    layer.qkv = reader.qkv(name + ".attn");
    layer.attention_output = reader.linear(name + ".attn.out", width, width);
    layer.feed_forward_norm = reader.norm(name + ".mlp_ln");
    layer.up = reader.linear(name + ".mlp.0", width, hidden);
    layer.down = reader.linear(name + ".mlp.2", hidden, width);
    weights.layers.push_back(std::move(layer));
  }
  return std::unique_ptr<WhisperEncoder>(new WhisperEncoder(std::move(weights), *kernels));
}

void WhisperEncoder::prepare(std::size_t threads) {
  if (!run_)
    run_ = std::make_unique<encoder::WhisperRun>(weights_, kernels_, encoder::kernels_named("amx-bf16"), threads);
}

}  // namespace lorekeep::speech
