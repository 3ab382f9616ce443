// Silero VAD (https://github.com/snakers4/silero-vad), versions 5 and 6 at 16 kHz: the probability that a window of 32
// ms holds speech. Computed here, in single precision, as the ONNX model computes it: with the last 64 samples of the
// window before as context. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lorekeep::speech {

/// Samples per second of everything after the resampler.
inline constexpr std::uint32_t kSampleRate = 16'000;
/// Samples of a window: 32 ms.
inline constexpr std::size_t kWindow = 512;

/// What a stream of audio has left in the network.
struct VoiceState {
  static constexpr std::size_t kUnits = 128;
  static constexpr std::size_t kContext = 64;

  std::array<float, kUnits> hidden{};
  std::array<float, kUnits> cell{};
  std::array<float, kContext> context{};
};

struct VoiceModelFacts {
  std::string name;         // "silero-16k"
  std::string version;      // "6.2.0"
  std::string fingerprint;  // 16 hexadecimal digits over the file
  std::uint64_t size_bytes;
};

/// Immutable, so thread-safe: streams have their own state.
class VoiceModel {
 public:
  /// Reads and checks a file of whisper.cpp's format. Throws Error: kNotFound, kIo, kModelInvalid, kUnsupported.
  static std::shared_ptr<const VoiceModel> load(const std::filesystem::path& path);

  const VoiceModelFacts& facts() const noexcept { return facts_; }
  /// Returns the probability of speech, in [0, 1], of the next kWindow samples in [-1, 1].
  float next(VoiceState& state, std::span<const float, kWindow> samples) const noexcept;

 private:
  // Weights as [input][kernel][output], so that a product adds rows and vectorises without changing the order of sums.
  struct Convolution {
    std::size_t inputs;
    std::size_t outputs;
    std::size_t stride;
    std::vector<float> weights;
    std::vector<float> bias;
  };

  VoiceModel() = default;
  static void convolve(const Convolution& layer, std::span<const float> input, std::size_t frames,
                       std::span<float> output) noexcept;

  VoiceModelFacts facts_;
  std::vector<float> basis_;  // of the short-time Fourier transform: [sample][real and imaginary parts]
  std::array<Convolution, 4> encoder_;
  std::vector<float> input_gates_;   // [input][gate]
  std::vector<float> hidden_gates_;  // [hidden unit][gate]
  std::vector<float> gate_bias_;
  std::vector<float> final_weights_;
  float final_bias_ = 0;
};

}  // namespace lorekeep::speech
