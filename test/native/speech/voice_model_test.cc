#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "core/values/error.h"
#include "harness.h"
#include "scratch_folder.h"
#include "speech/voice_stream.h"

namespace lorekeep::speech {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A vowel: harmonics of 120 Hz under two formants, which Silero takes for speech.
std::vector<float> vowel(std::size_t samples) {
  std::vector<float> result(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / kSampleRate;
    double sum = 0;
    for (int k = 1; k < 30; ++k) {
      const double hertz = 120.0 * k * (1 + .02 * std::sin(2 * 3.14159 * 5 * t));
      const double gain =
          std::exp(-std::pow((120.0 * k - 700) / 250, 2)) + std::exp(-std::pow((120.0 * k - 1200) / 300, 2));
      sum += gain * std::sin(2 * 3.14159 * hertz * t);
    }
    result[i] = static_cast<float>(.1 * sum);
  }
  return result;
}

std::vector<float> probabilities(std::span<const float> samples, std::size_t piece) {
  VoiceStream stream(VoiceModel::load(SILERO), {}, {});
  std::vector<float> all;
  const auto add = [&](VoiceResult&& result) {
    all.insert(all.end(), result.probabilities.begin(), result.probabilities.end());
  };
  for (std::size_t at = 0; at < samples.size(); at += piece)
    add(stream.push(samples.subspan(at, std::min(piece, samples.size() - at))));
  add(stream.finish());
  return all;
}

TEST("the shipped model finds no speech in silence and noise, whatever the pieces") {
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, .01f);
  std::vector<float> samples(kSampleRate);
  for (float& sample : samples) sample = noise(random);
  const std::vector<float> whole = probabilities(samples, samples.size());
  CHECK_EQ(whole.size(), std::size_t{32});
  for (const float probability : whole) CHECK(probability >= 0 && probability < .5f);
  CHECK(probabilities(samples, 160) == whole);
  CHECK(probabilities(samples, 1) == whole);
}

TEST("values that are no numbers count as silence") {
  std::vector<float> samples = vowel(kWindow * 8);
  samples[700] = std::nanf("");
  samples[900] = INFINITY;
  for (const float probability : probabilities(samples, 512)) CHECK(std::isfinite(probability));
}

TEST("settings and formats outside their ranges are refused by name") {
  const auto model = VoiceModel::load(SILERO);
  const auto refusal = [&](const VoiceSettings& settings, const StreamFormat& format) -> std::string {
    try {
      VoiceStream stream(model, settings, format);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  CHECK(refusal({}, {1, 1}).starts_with("rate: "));
  CHECK(refusal({}, {1'000'000'000, 1}).starts_with("rate: "));
  CHECK(refusal({}, {16000, 0}).starts_with("channels: "));
  CHECK(refusal({.threshold = 0}, {}).starts_with("threshold: "));
  CHECK(refusal({.threshold = .3f, .end_threshold = .4f}, {}).starts_with("endThreshold: "));
  CHECK(refusal({.max_segment_ms = 10}, {}).starts_with("maxSegmentMs: "));
  VoiceStream stereo(model, {}, {48000, 2});
  CHECK_FAILS(Code::kInvalidArgument, stereo.push(std::vector<float>(3)));
  stereo.finish();
  CHECK_FAILS(Code::kInvalidArgument, stereo.push(std::vector<float>(2)));
}

TEST("a call that is cancelled ends the stream, whose windows would be heard twice") {
  VoiceStream stream(VoiceModel::load(SILERO), {}, {});
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, stream.push(vowel(kWindow * 8), &cancel));
  CHECK_FAILS(Code::kInvalidArgument, stream.push(vowel(kWindow)));
  CHECK_FAILS(Code::kInvalidArgument, stream.finish());
}

TEST("a damaged file is refused, and never read beyond its end") {
  const test::ScratchFolder folder;
  const std::string good = bytes_of(SILERO);
  CHECK(good.size() == 885'098);
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    if (round % 3 == 0) bad.resize(random() % bad.size());
    const int places = 1 + random() % 4;
    // Most mutations hit the headers of the file and of its tensors.
    for (int i = 0; i < places && !bad.empty(); ++i)
      bad[random() % (round % 2 == 0 ? std::min<std::size_t>(bad.size(), 200) : bad.size())] =
          static_cast<char>(random());
    const auto path = folder.path() / "bad.bin";
    write(path, bad);
    try {
      const auto model = VoiceModel::load(path);
      VoiceState state;
      const std::vector<float> samples(kWindow, .1f);
      model->next(state, std::span<const float, kWindow>(samples.data(), kWindow));
    } catch (const Error& error) {
      CHECK(error.code() == Code::kModelInvalid);
    }
  }
}

}  // namespace
}  // namespace lorekeep::speech
