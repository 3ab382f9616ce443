#include "speech/voice_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/values/checksum.h"
#include "speech/tensor_file.h"

namespace lorekeep::speech {
namespace {

constexpr std::size_t kFrame = 256;  // samples of the Fourier transform
constexpr std::size_t kHop = 128;
constexpr std::size_t kBins = kFrame / 2 + 1;
constexpr std::size_t kFrames = 4;  // of a window with its context and its reflected end
constexpr std::size_t kPadded = VoiceState::kContext + kWindow + VoiceState::kContext;
constexpr std::size_t kUnits = VoiceState::kUnits;
constexpr std::size_t kGates = 4 * kUnits;  // input, forget, cell, output
constexpr std::size_t kKernel = 3;

struct LayerShape {
  std::uint32_t inputs;
  std::uint32_t outputs;
  std::size_t stride;
};
constexpr std::array<LayerShape, 4> kLayers{{{kBins, 128, 1}, {128, 64, 2}, {64, 64, 2}, {64, kUnits, 1}}};

float sigmoid(float value) noexcept {
  return 1.0f / (1.0f + std::exp(-value));
}

/// Adds `factor` times a row to `sums`.
void add_row(float factor, const float* row, std::span<float> sums) noexcept {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += factor * row[i];
}

/// From [output][input] to [input][output].
std::vector<float> transposed(const std::vector<float>& rows, std::size_t inputs, std::size_t outputs) {
  std::vector<float> result(rows.size());
  for (std::size_t out = 0; out < outputs; ++out)
    for (std::size_t in = 0; in < inputs; ++in) result[in * outputs + out] = rows[out * inputs + in];
  return result;
}

void read_header(TensorFile& file, VoiceModelFacts& facts) {
  facts.name = file.text(file.number("the length of the model's name", 1, 64));
  if (facts.name != "silero-16k") file.invalid("is a model of another kind than Silero VAD at 16 kHz");
  std::string version;
  for (int part = 0; part < 3; ++part)
    version += (part == 0 ? "" : ".") + std::to_string(file.number("a part of the version", 0, 1000));
  facts.version = version;
  const auto equals = [&](const char* what, std::uint32_t value) { file.number(what, value, value); };
  equals("the window", kWindow);
  equals("the context", VoiceState::kContext);
  equals("the number of layers", kLayers.size());
  for (const LayerShape& layer : kLayers) {
    equals("the inputs of a layer", layer.inputs);
    equals("the outputs of a layer", layer.outputs);
    equals("the kernel of a layer", kKernel);
  }
  for (int i = 0; i < 3; ++i) equals("the size of the recurrent layer", kUnits);
  equals("the number of outputs", 1);
}

}  // namespace

std::shared_ptr<const VoiceModel> VoiceModel::load(const std::filesystem::path& path) {
  TensorFile file(path);
  std::shared_ptr<VoiceModel> model(new VoiceModel);
  read_header(file, model->facts_);
  const Tensors tensors(file, "Silero VAD 5 and 6");
  model->basis_ =
      transposed(tensors.floats("_model.stft.forward_basis_buffer", {kFrame, 1, 2 * kBins}), kFrame, 2 * kBins);
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    const LayerShape& shape = kLayers[i];
    const std::string name = "_model.encoder." + std::to_string(i) + ".reparam_conv.";
    const std::vector<float> weights = tensors.floats(name + "weight", {kKernel, shape.inputs, shape.outputs});
    model->encoder_[i] = {shape.inputs, shape.outputs, shape.stride,
                          transposed(weights, kKernel * shape.inputs, shape.outputs),
                          tensors.floats(name + "bias", {shape.outputs})};
  }
  model->input_gates_ = transposed(tensors.floats("_model.decoder.rnn.weight_ih", {kUnits, kGates}), kUnits, kGates);
  model->hidden_gates_ = transposed(tensors.floats("_model.decoder.rnn.weight_hh", {kUnits, kGates}), kUnits, kGates);
  model->gate_bias_ = tensors.floats("_model.decoder.rnn.bias_ih", {kGates});
  add_row(1.0f, tensors.floats("_model.decoder.rnn.bias_hh", {kGates}).data(), model->gate_bias_);
  model->final_weights_ = tensors.floats("_model.decoder.decoder.2.weight", {kUnits});
  model->final_bias_ = tensors.floats("_model.decoder.decoder.2.bias", {1})[0];
  model->facts_.size_bytes = file.size();
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(checksum(file.bytes())));
  model->facts_.fingerprint = text.data();
  file.check_unchanged();
  return model;
}

// A kernel of 3 with padding of 1. `input` and `output` are [frame][channel].
void VoiceModel::convolve(const Convolution& layer, std::span<const float> input, std::size_t frames,
                          std::span<float> output) noexcept {
  const std::size_t steps = (frames - 1) / layer.stride + 1;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::span<float> sums = output.subspan(step * layer.outputs, layer.outputs);
    std::copy(layer.bias.begin(), layer.bias.end(), sums.begin());
    for (std::size_t tap = 0; tap < kKernel; ++tap) {
      const std::size_t frame = step * layer.stride + tap;  // one more than the frame's number
      if (frame == 0 || frame > frames) continue;
      const std::span<const float> values = input.subspan((frame - 1) * layer.inputs, layer.inputs);
      for (std::size_t in = 0; in < layer.inputs; ++in)
        add_row(values[in], layer.weights.data() + (in * kKernel + tap) * layer.outputs, sums);
    }
    for (float& value : sums) value = std::max(value, 0.0f);
  }
}

float VoiceModel::next(VoiceState& state, std::span<const float, kWindow> samples) const noexcept {
  std::array<float, kPadded> padded;
  std::copy(state.context.begin(), state.context.end(), padded.begin());
  std::copy(samples.begin(), samples.end(), padded.begin() + VoiceState::kContext);
  constexpr std::size_t end = VoiceState::kContext + kWindow;
  for (std::size_t i = 0; i < VoiceState::kContext; ++i) padded[end + i] = padded[end - 2 - i];
  std::copy(samples.end() - VoiceState::kContext, samples.end(), state.context.begin());

  std::array<float, kFrames * 128> first;
  std::array<float, kFrames * 128> second;
  std::array<float, kFrames * kBins> magnitudes;
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    std::array<float, 2 * kBins> parts{};
    for (std::size_t i = 0; i < kFrame; ++i) add_row(padded[frame * kHop + i], basis_.data() + i * 2 * kBins, parts);
    for (std::size_t bin = 0; bin < kBins; ++bin)
      magnitudes[frame * kBins + bin] = std::sqrt(parts[bin] * parts[bin] + parts[kBins + bin] * parts[kBins + bin]);
  }
  convolve(encoder_[0], magnitudes, 4, first);
  convolve(encoder_[1], first, 4, second);
  convolve(encoder_[2], second, 2, first);
  convolve(encoder_[3], first, 1, second);

  std::array<float, kGates> gates;
  std::copy(gate_bias_.begin(), gate_bias_.end(), gates.begin());
  for (std::size_t i = 0; i < kUnits; ++i) {
    add_row(second[i], input_gates_.data() + i * kGates, gates);
    add_row(state.hidden[i], hidden_gates_.data() + i * kGates, gates);
  }
  float sum = final_bias_;
  for (std::size_t i = 0; i < kUnits; ++i) {
    const float cell =
        sigmoid(gates[kUnits + i]) * state.cell[i] + sigmoid(gates[i]) * std::tanh(gates[2 * kUnits + i]);
    const float hidden = sigmoid(gates[3 * kUnits + i]) * std::tanh(cell);
    state.cell[i] = cell;
    state.hidden[i] = hidden;
    sum += std::max(hidden, 0.0f) * final_weights_[i];
  }
  return sigmoid(sum);
}

}  // namespace lorekeep::speech
