#include "vector/distance.h"

#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "core/cpu/half.h"
#include "harness.h"
#include "vector/vector_type.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kLengths[] = {0,  1,  2,  3,  5,  7,  8,  9,  15,  16,  17,  23,  24,  31,  32,  33,
                                    47, 48, 63, 64, 65, 95, 96, 97, 127, 128, 129, 191, 383, 384, 385, 1023};

/// Four rows and a query that start `shift` values beyond an aligned address.
template <class T, class Make>
struct Rows {
  std::vector<T> memory;
  const T* rows[4];
  Rows(std::size_t length, std::size_t shift, Make&& make) : memory(4 * (length + 3) + shift + 16) {
    for (T& value : memory) value = make();
    for (std::size_t r = 0; r < 4; ++r) rows[r] = memory.data() + shift + r * (length + 3);
  }
};
template <class T, class Make>
Rows(std::size_t, std::size_t, Make&&) -> Rows<T, Make>;

float tolerance(std::size_t length) {
  return 1e-6f * static_cast<float>(length + 8);
}

TEST("kernels: every set that runs here is found by name, and scalar always runs") {
  CHECK(!available_kernels().empty());
  CHECK_EQ(std::string_view(available_kernels().front()->name), "scalar");
  for (const DistanceKernels* set : available_kernels()) CHECK(kernels_named(set->name) == set);
  CHECK(kernels_named("abacus") == nullptr);
  CHECK(kernels_named(kernels().name) == &kernels());
}

TEST("kernels: f32 dot products of all sets agree with double, odd lengths and unaligned rows included") {
  std::mt19937_64 random(test::seed());
  std::uniform_real_distribution<float> value(-1, 1);
  const auto make = [&] { return value(random); };
  for (std::size_t length : kLengths) {
    for (std::size_t shift : {0, 1, 3}) {
      Rows<float, decltype(make)&> query(length, shift, make);
      Rows<float, decltype(make)&> data(length, shift + 1, make);
      for (const DistanceKernels* set : available_kernels()) {
        float four[4];
        set->dot4_f32(query.rows[0], data.rows, length, four);
        for (int r = 0; r < 4; ++r) {
          double exact = 0;
          for (std::size_t i = 0; i < length; ++i) exact += static_cast<double>(query.rows[0][i]) * data.rows[r][i];
          CHECK_NEAR(four[r], exact, tolerance(length));
          CHECK_EQ(set->dot_f32(query.rows[0], data.rows[r], length), four[r]);  // the same bits
        }
      }
    }
  }
}

TEST("kernels: f16 dot products of all sets agree with double") {
  std::mt19937_64 random(test::seed() + 1);
  std::uniform_real_distribution<float> value(-1, 1);
  const auto make = [&] { return value(random); };
  const auto make_half = [&] { return half_from_float(value(random)); };
  for (std::size_t length : kLengths) {
    for (std::size_t shift : {0, 1, 3}) {
      Rows<float, decltype(make)&> query(length, shift, make);
      Rows<std::uint16_t, decltype(make_half)&> data(length, shift + 1, make_half);
      for (const DistanceKernels* set : available_kernels()) {
        float four[4];
        set->dot4_f16(query.rows[0], data.rows, length, four);
        for (int r = 0; r < 4; ++r) {
          double exact = 0;
          for (std::size_t i = 0; i < length; ++i) {
            exact += static_cast<double>(query.rows[0][i]) * float_from_half(data.rows[r][i]);
          }
          CHECK_NEAR(four[r], exact, tolerance(length));
          CHECK_EQ(set->dot_f16(query.rows[0], data.rows[r], length), four[r]);
        }
      }
    }
  }
}

TEST("kernels: i8 dot products of all sets are exact, at the extremes too") {
  std::mt19937_64 random(test::seed() + 2);
  std::uniform_int_distribution<int> value(-127, 127);
  const auto any = [&] { return static_cast<std::int8_t>(value(random)); };
  const auto extreme = [&] { return static_cast<std::int8_t>(random() % 2 == 0 ? 127 : -127); };
  const auto check = [](auto& query, auto& data, std::size_t length) {
    for (const DistanceKernels* set : available_kernels()) {
      std::int32_t four[4];
      set->dot4_i8(query.rows[0], data.rows, length, four);
      for (int r = 0; r < 4; ++r) {
        std::int64_t exact = 0;
        for (std::size_t i = 0; i < length; ++i) exact += std::int64_t{query.rows[0][i]} * data.rows[r][i];
        CHECK_EQ(std::int64_t{four[r]}, exact);
        CHECK_EQ(std::int64_t{set->dot_i8(query.rows[0], data.rows[r], length)}, exact);
      }
    }
  };
  for (std::size_t length : kLengths) {
    Rows<std::int8_t, decltype(any)&> query(length, 1, any);
    Rows<std::int8_t, decltype(any)&> data(length, 2, any);
    check(query, data, length);
    Rows<std::int8_t, decltype(extreme)&> far_query(length, 3, extreme);
    Rows<std::int8_t, decltype(extreme)&> far_data(length, 0, extreme);
    check(far_query, far_data, length);
  }
}

TEST("kernels: an i8 dot product of the largest dimension does not overflow") {
  const std::vector<std::int8_t> all(kMaxDimension, 127);
  for (const DistanceKernels* set : available_kernels()) {
    CHECK_EQ(set->dot_i8(all.data(), all.data(), all.size()), 127 * 127 * static_cast<std::int32_t>(kMaxDimension));
  }
}

TEST("half: every half survives the way to float and back, in software and in all sets") {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for (const DistanceKernels* set : available_kernels()) {
    std::vector<float> values(halves.size());
    std::vector<std::uint16_t> back(halves.size());
    set->decode_f16(halves.data(), values.data(), halves.size());
    set->encode_f16(values.data(), back.data(), halves.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const float software = float_from_half(halves[i]);
      if (std::isnan(software)) {
        wrong += std::isnan(values[i]) && std::isnan(float_from_half(back[i])) ? 0 : 1;
      } else {
        wrong +=
            values[i] == software && std::signbit(values[i]) == std::signbit(software) && back[i] == halves[i] ? 0 : 1;
      }
    }
    CHECK_EQ(wrong, 0u);
  }
}

TEST("half: rounding is to nearest even, with subnormals, overflow and infinity, as in hardware") {
  CHECK_EQ(half_from_float(1.0f), 0x3c00);
  CHECK_EQ(half_from_float(1.0f + 0x1p-11f), 0x3c00);             // a tie, to even
  CHECK_EQ(half_from_float(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01);  // above the tie
  CHECK_EQ(half_from_float(1.0f + 3 * 0x1p-11f), 0x3c02);         // a tie, to even
  CHECK_EQ(half_from_float(0x1p-24f), 0x0001);
  CHECK_EQ(half_from_float(0x1p-25f), 0x0000);
  CHECK_EQ(half_from_float(0x1.8p-25f), 0x0001);
  CHECK_EQ(half_from_float(65519.0f), 0x7bff);
  CHECK_EQ(half_from_float(65520.0f), 0x7c00);
  CHECK_EQ(half_from_float(-std::numeric_limits<float>::infinity()), 0xfc00);
  std::mt19937_64 random(test::seed() + 3);
  std::vector<float> values(20000);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  for (const DistanceKernels* set : available_kernels()) {
    std::vector<std::uint16_t> halves(values.size());
    set->encode_f16(values.data(), halves.data(), values.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      wrong += std::isnan(values[i]) || halves[i] == half_from_float(values[i]) ? 0 : 1;
    }
    CHECK_EQ(wrong, 0u);
  }
}

TEST("cosine distance is held to [0, 2], and NaN is far") {
  CHECK_EQ(cosine_distance(1.0000001f), 0.0f);
  CHECK_EQ(cosine_distance(-1.0000002f), 2.0f);
  CHECK_EQ(cosine_distance(0.0f), 1.0f);
  CHECK_EQ(cosine_distance(std::numeric_limits<float>::quiet_NaN()), 2.0f);
}

}  // namespace
}  // namespace lorekeep::vector
