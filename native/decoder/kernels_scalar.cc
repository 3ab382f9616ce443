#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/cpu/half.h"
#include "decoder/kernel_sets.h"

#define LOREKEEP_TARGET

namespace lorekeep::decoder {
namespace {

// A register of 8 values in plain C++: the reference, and the set of processors without one of their own.
struct Reg {
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kQueries = 6;
  struct Value {
    float at[kLanes];
  };

  template <class Function>
  static Value each(Function function) {
    Value found;
    for (std::size_t i = 0; i < kLanes; ++i) found.at[i] = function(i);
    return found;
  }
  static Value load(const float* from) {
    return each([&](std::size_t i) { return from[i]; });
  }
  static void store(float* to, Value a) {
    for (std::size_t i = 0; i < kLanes; ++i) to[i] = a.at[i];
  }
  static Value set(float value) {
    return each([&](std::size_t) { return value; });
  }
  static Value load_half(const std::uint16_t* from) {
    return each([&](std::size_t i) { return float_from_half(from[i]); });
  }
  static Value load_bytes(const std::int8_t* from) {
    return each([&](std::size_t i) { return static_cast<float>(from[i]); });
  }
  static Value add(Value a, Value b) {
    return each([&](std::size_t i) { return a.at[i] + b.at[i]; });
  }
  static Value sub(Value a, Value b) {
    return each([&](std::size_t i) { return a.at[i] - b.at[i]; });
  }
  static Value mul(Value a, Value b) {
    return each([&](std::size_t i) { return a.at[i] * b.at[i]; });
  }
  static Value div(Value a, Value b) {
    return each([&](std::size_t i) { return a.at[i] / b.at[i]; });
  }
  static Value fma(Value a, Value b, Value c) {
    return each([&](std::size_t i) { return a.at[i] * b.at[i] + c.at[i]; });
  }
  static Value min(Value a, Value b) {
    return each([&](std::size_t i) { return a.at[i] < b.at[i] ? a.at[i] : b.at[i]; });
  }
  static Value max(Value a, Value b) {
    return each([&](std::size_t i) { return a.at[i] > b.at[i] ? a.at[i] : b.at[i]; });
  }
  static Value round(Value a) {
    return each([&](std::size_t i) { return std::nearbyint(a.at[i]); });
  }
  static Value times_two_to(Value a, Value b) {
    return each([&](std::size_t i) { return std::ldexp(a.at[i], static_cast<int>(b.at[i])); });
  }
  static Value less(Value a, Value b, Value x, Value y) {
    return each([&](std::size_t i) { return a.at[i] < b.at[i] ? x.at[i] : y.at[i]; });
  }
  static Value ordinals() {
    return each([](std::size_t i) { return static_cast<float>(i); });
  }
  struct Pairs {
    std::int16_t at[kLanes][2];
  };
  struct Sums {
    std::int32_t at[kLanes];
  };
  static Pairs load_pairs(const std::uint16_t* from) {
    Pairs found;
    std::memcpy(found.at, from, sizeof found.at);
    return found;
  }
  static Pairs same_pair(const std::uint16_t* from) {
    Pairs found;
    for (auto& pair : found.at) std::memcpy(pair, from, sizeof pair);
    return found;
  }
  static void store_pairs(std::uint16_t* to, Value even, Value odd) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      to[2 * i] = static_cast<std::uint16_t>(static_cast<int>(std::nearbyint(even.at[i])));
      to[2 * i + 1] = static_cast<std::uint16_t>(static_cast<int>(std::nearbyint(odd.at[i])));
    }
  }
  static void store_integers(std::uint16_t* to, Value a) {
    for (std::size_t i = 0; i < kLanes; ++i)
      to[i] = static_cast<std::uint16_t>(static_cast<int>(std::nearbyint(a.at[i])));
  }
  template <std::size_t kRegs>
  static void interleave(const std::uint16_t* first, const std::uint16_t* second, Pairs (&to)[kRegs]) {
    for (std::size_t i = 0; i < kRegs * kLanes; ++i) {
      to[i / kLanes].at[i % kLanes][0] = static_cast<std::int16_t>(first[i]);
      to[i / kLanes].at[i % kLanes][1] = static_cast<std::int16_t>(second[i]);
    }
  }
  template <std::size_t kRegs>
  static void in_order(Value (&)[kRegs]) {}
  static Sums no_sums() { return {}; }
  // Wraps for cells without a key; their results are not used.
  static Sums add_products(Sums sums, Pairs a, Pairs b) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const auto first = static_cast<std::uint32_t>(a.at[i][0] * b.at[i][0]);
      const auto second = static_cast<std::uint32_t>(a.at[i][1] * b.at[i][1]);
      sums.at[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums.at[i]) + first + second);
    }
    return sums;
  }
  static Value from_sums(Sums sums) {
    return each([&](std::size_t i) { return static_cast<float>(sums.at[i]); });
  }
  static float sum(Value a) {
    float found = 0;
    for (const float value : a.at) found += value;
    return found;
  }
  static float largest(Value a) {
    float found = a.at[0];
    for (const float value : a.at) found = value > found ? value : found;
    return found;
  }
};

}  // namespace
}  // namespace lorekeep::decoder

#include "decoder/kernel_bodies.h"

namespace lorekeep::decoder {

const DecoderKernels kScalarKernels = kernel_set("scalar");

}  // namespace lorekeep::decoder
