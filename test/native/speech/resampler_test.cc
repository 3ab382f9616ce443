#include "speech/resampler.h"

#include <cmath>
#include <numbers>
#include <random>

#include "harness.h"

namespace lorekeep::speech {
namespace {

std::vector<float> tone(std::uint32_t rate, double hertz, double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(rate * seconds));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<float>(.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  return samples;
}

std::vector<float> resampled(std::uint32_t rate, std::span<const float> input) {
  Resampler resampler(rate);
  std::vector<float> output;
  resampler.push(input, output);
  resampler.finish(output);
  return output;
}

// The largest difference, without the ends, where the input begins and ends abruptly.
double difference(std::span<const float> actual, std::span<const float> expected) {
  double most = 0;
  const std::size_t common = std::min(actual.size(), expected.size());
  for (std::size_t i = 400; i + 400 < common; ++i) most = std::max<double>(most, std::abs(actual[i] - expected[i]));
  return most;
}

TEST("a tone of any rate becomes the same tone at 16 kHz") {
  for (const std::uint32_t rate : {8000u, 11025u, 12000u, 16000u, 22050u, 24000u, 32000u, 44100u, 47999u, 48000u}) {
    const std::vector<float> output = resampled(rate, tone(rate, 1000, .5));
    CHECK(output.size() >= 7999 && output.size() <= 8000);
    CHECK(difference(output, tone(16000, 1000, .5)) < 2e-3);
  }
}

TEST("what 16 kHz cannot hold does not come back as another tone") {
  const std::vector<float> output = resampled(48000, tone(48000, 11000, .5));
  CHECK(difference(output, std::vector<float>(output.size())) < 1e-3);
}

TEST("the output does not depend on how the input is cut") {
  std::mt19937 random(3);
  for (const std::uint32_t rate : {8000u, 16000u, 44100u, 48000u}) {
    const std::vector<float> input = tone(rate, 440, .3);
    const std::vector<float> whole = resampled(rate, input);
    Resampler resampler(rate);
    std::vector<float> output;
    for (std::size_t at = 0; at < input.size();) {
      const std::size_t count = std::min<std::size_t>(random() % 700, input.size() - at);
      resampler.push(std::span(input).subspan(at, count), output);
      at += count;
    }
    resampler.finish(output);
    CHECK(output == whole);
  }
}

TEST("an empty stream is empty") {
  CHECK(resampled(44100, {}).empty());
}

}  // namespace
}  // namespace lorekeep::speech
