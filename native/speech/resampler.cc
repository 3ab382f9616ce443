#include "speech/resampler.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lorekeep::speech {
namespace {

constexpr std::size_t kCrossings = 24;  // zero crossings of the filter on each side
constexpr std::size_t kSteps = 256;     // table values per crossing, interpolated linearly
constexpr double kBeta = 9.0;           // of the Kaiser window: 90 dB
constexpr float kPassed = 0.95f;        // of the narrower band

// The modified Bessel function of the first kind, order 0, by its series.
double bessel(double x) {
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 60; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

std::vector<float> filter() {
  std::vector<float> table(kCrossings * kSteps + 2, 0.0f);
  for (std::size_t i = 0; i <= kCrossings * kSteps; ++i) {
    const double x = static_cast<double>(i) / kSteps;
    const double sinc = i == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
    const double place = x / kCrossings;
    table[i] = static_cast<float>(sinc * bessel(kBeta * std::sqrt(std::max(0.0, 1 - place * place))) / bessel(kBeta));
  }
  return table;
}

}  // namespace

Resampler::Resampler(std::uint32_t rate) : rate_(rate) {
  const std::uint32_t common = std::gcd(rate, kSampleRate);
  up_ = kSampleRate / common;
  down_ = rate / common;
  cutoff_ = kPassed * std::min(1.0f, static_cast<float>(kSampleRate) / static_cast<float>(rate));
  half_ = static_cast<std::size_t>(std::ceil(kCrossings / cutoff_));
  if (rate != kSampleRate) table_ = filter();
  // Silence before the beginning.
  input_.assign(half_, 0.0f);
  first_ = -static_cast<std::int64_t>(half_);
}

void Resampler::push(std::span<const float> samples, std::vector<float>& output) {
  if (rate_ == kSampleRate) {
    output.insert(output.end(), samples.begin(), samples.end());
    return;
  }
  input_.insert(input_.end(), samples.begin(), samples.end());
  total_ += samples.size();
  drain(output);
}

void Resampler::finish(std::vector<float>& output) {
  if (rate_ == kSampleRate) return;
  // Silence behind the end, of which no output sample has its centre.
  const std::uint64_t last = total_ * up_ / down_;
  input_.insert(input_.end(), half_ + 1, 0.0f);
  for (; produced_ < last; ++produced_) output.push_back(at(produced_ * down_));
}

void Resampler::drain(std::vector<float>& output) {
  const std::int64_t end = first_ + static_cast<std::int64_t>(input_.size());
  for (; static_cast<std::int64_t>(produced_ * down_ / up_ + half_ + 1) < end; ++produced_)
    output.push_back(at(produced_ * down_));
  const std::int64_t needed = static_cast<std::int64_t>(produced_ * down_ / up_) - static_cast<std::int64_t>(half_);
  const std::int64_t unneeded = std::min<std::int64_t>(needed - first_, static_cast<std::int64_t>(input_.size()));
  if (unneeded <= 0) return;
  input_.erase(input_.begin(), input_.begin() + unneeded);
  first_ += unneeded;
}

// The value at numerator / up_ input samples.
float Resampler::at(std::uint64_t numerator) const noexcept {
  const std::int64_t whole = static_cast<std::int64_t>(numerator / up_);
  const double fraction = static_cast<double>(numerator % up_) / up_;
  double sum = 0;
  for (std::int64_t i = whole - static_cast<std::int64_t>(half_) + 1; i <= whole + static_cast<std::int64_t>(half_);
       ++i) {
    const double distance = std::abs((static_cast<double>(i - whole) - fraction) * cutoff_) * kSteps;
    const std::size_t step = static_cast<std::size_t>(distance);
    if (step >= kCrossings * kSteps) continue;
    const double between = distance - static_cast<double>(step);
    const double weight = table_[step] + between * (table_[step + 1] - table_[step]);
    sum += weight * input_[static_cast<std::size_t>(i - first_)];
  }
  return static_cast<float>(sum * cutoff_);
}

}  // namespace lorekeep::speech
