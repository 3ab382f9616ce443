// Every set against the scalar one, and that one against sums in double precision. AMX runs emulated where the
// processor has none.
#include "quant/multiply.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "amx_emulator.h"
#include "harness.h"
#include "matrices.h"
#include "quant/kernel_sets.h"

namespace lorekeep::quant {
namespace {

using test::file_rows;
using test::kAll;
using test::numbers;

constexpr float kUntouched = 12345;

/// The available sets, and the AMX set if it can be emulated.
class TestedSets {
 public:
  TestedSets() : sets_(available_kernels().begin(), available_kernels().end()) {
#if LOREKEEP_AMX
    if (emulator_.usable() && kernels_named("avx512-vnni") != nullptr && !amx_int8_permitted())
      sets_.push_back(&kAmxInt8Kernels);
#endif
  }
  auto begin() const { return sets_.begin(); }
  auto end() const { return sets_.end(); }

 private:
#if LOREKEEP_AMX
  lorekeep::test::AmxEmulator emulator_{amx_int8_permitted()};
#endif
  std::vector<const QuantKernels*> sets_;
};

/// A matrix, and rows for it in a wider matrix.
struct Problem {
  Problem(Format format, std::size_t outputs, std::size_t inputs, std::size_t rows)
      : file(file_rows(format, outputs, inputs, 1)),
        matrix(PackedMatrix::pack(format, file, outputs, inputs, {})),
        stride(inputs + 3),
        values(numbers(rows * stride, 2)),
        rows(rows) {}

  Activations activations(const QuantKernels& kernels) const {
    Activations all;
    all.reset(values.data(), matrix.inputs(), stride, rows);
    all.quantize(0, rows, kernels);
    return all;
  }

  std::vector<float> product(const QuantKernels& kernels, Range some_rows, Range outputs) const {
    const std::size_t width = matrix.outputs() + 5;
    std::vector<float> out(rows * width, kUntouched);
    multiply(matrix, activations(kernels), some_rows, outputs, out.data(), width, kernels);
    return out;
  }
  std::vector<float> product(const QuantKernels& kernels) const {
    return product(kernels, {0, rows}, {0, matrix.outputs()});
  }

  std::vector<std::byte> file;
  PackedMatrix matrix;
  std::size_t stride;
  std::vector<float> values;
  std::size_t rows;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::size_t inputs_of(Format format, std::size_t blocks) {
  return is_float(format) ? 13 * blocks : block_values(format) * blocks;
}

/// Sets all quants of a file to the same bits. Scales and minima stay.
void fill_quants(Format format, std::byte fill, std::vector<std::byte>& file) {
  const std::size_t size = block_bytes(format);
  const std::size_t quants = block_values(format) == 256 ? format == Format::kQ6_K ? 192 : size - 16
                             : format == Format::kQ4_1 || format == Format::kQ5_1 ? size - 4
                                                                                  : size - 2;
  const std::size_t first = format == Format::kQ6_K ? 0 : size - quants;
  for (std::size_t at = 0; at < file.size(); at += size) std::fill_n(file.data() + at + first, quants, fill);
}

const QuantKernels& scalar() {
  return *kernels_named("scalar");
}

TEST("multiply: every set that runs here is found by name, and scalar always runs") {
  REQUIRE(!available_kernels().empty());
  CHECK_EQ(std::string_view(available_kernels().front()->name), "scalar");
  for (const QuantKernels* set : available_kernels()) CHECK(kernels_named(set->name) == set);
  CHECK(kernels_named("abacus") == nullptr);
  const auto sets = available_kernels();
  const QuantKernels* const last = sets.back();
  const bool measured = std::string_view(last->name) == "amx-int8";
  CHECK(&best_kernels() == last || (measured && &best_kernels() == sets[sets.size() - 2]));
}

TEST("multiply: the scalar set is near the product of the dequantised matrices, in every format") {
  for (Format format : kAll) {
    const Problem problem(format, 19, inputs_of(format, 4), 3);
    const std::size_t inputs = problem.matrix.inputs();
    const auto found = problem.product(scalar());
    const std::size_t width = problem.matrix.outputs() + 5;
    std::vector<float> weights(inputs);
    for (std::size_t n = 0; n < problem.matrix.outputs(); ++n) {
      problem.matrix.row(n, weights.data());
      for (std::size_t m = 0; m < problem.rows; ++m) {
        double sum = 0, magnitude = 0;
        for (std::size_t k = 0; k < inputs; ++k) {
          sum += static_cast<double>(weights[k]) * problem.values[m * problem.stride + k];
          magnitude += std::abs(weights[k]);
        }
        // Half a step of every input, if it is rounded at all.
        const double rounding = is_float(format) ? 1e-6 : 0.5 / 127 + 1e-6;
        CHECK_NEAR(found[m * width + n], sum, rounding * magnitude);
      }
    }
  }
}

TEST("multiply: activations are half a step from the value at most, padded with zeros") {
  const TestedSets tested;
  for (const QuantKernels* set : tested) {
    for (std::size_t inputs : {32u, 70u, 256u}) {
      auto values = numbers(2 * inputs, 5);
      values[0] = 4;
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(inputs), 32, 0.0f);
      Activations all;
      all.reset(values.data(), inputs, inputs, 2);
      all.quantize(0, 2, *set);
      for (std::size_t i = 0; i < 2 * all.blocks() * 32; ++i) {
        const std::size_t row = i / (all.blocks() * 32), k = i % (all.blocks() * 32);
        const ActivationBlock& block = all.row(row)[k / 32];
        const float value = k < inputs ? values[row * inputs + k] : 0;
        CHECK_NEAR(block.scale * block.quants[k % 32], value, 0.501 * block.scale);
      }
    }
  }
}

TEST("multiply: a quantised row and its remainder add up to the row") {
  for (std::size_t inputs : {32u, 70u}) {
    const auto values = numbers(2 * inputs, 6);
    Activations all;
    all.reset(values.data(), inputs, inputs, 2);
    all.quantize(0, 2);
    std::vector<float> remainder(inputs + 1, 7.0f);
    all.remainder(1, remainder.data());
    for (std::size_t i = 0; i < inputs; ++i) {
      const ActivationBlock& block = all.row(1)[i / 32];
      CHECK_NEAR(block.scale * block.quants[i % 32] + remainder[i], values[inputs + i], 1e-6 * block.scale);
    }
    CHECK(remainder[inputs] == 7.0f);
  }
}

TEST("multiply: every set computes the bits of the scalar one, in odd shapes of every format") {
  const TestedSets tested;
  for (Format format : kAll) {
    for (std::size_t rows : {1u, 2u, 3u, 4u, 5u, 7u, 12u, 13u, 16u, 17u, 26u, 33u}) {
      for (std::size_t outputs : {5u, 16u, 48u, 95u}) {
        for (std::size_t blocks : {1u, 2u, 5u}) {
          const Problem problem(format, outputs, inputs_of(format, blocks), rows);
          const auto expected = problem.product(scalar());
          for (const QuantKernels* set : tested) CHECK(same_bits(problem.product(*set), expected));
        }
      }
    }
  }
}

TEST("multiply: long rows are split inside, with the same bits") {
  const TestedSets tested;
  for (Format format : kAll) {
    const Problem problem(format, 33, 2560, 18);
    const auto expected = problem.product(scalar());
    for (const QuantKernels* set : tested) CHECK(same_bits(problem.product(*set), expected));
  }
}

TEST("multiply: the largest quants and inputs do not overflow, for few rows and for many") {
  const TestedSets tested;
  for (Format format : kAll) {
    if (is_float(format)) continue;
    for (const std::byte fill : {std::byte{0x7f}, std::byte{0x80}, std::byte{0xff}, std::byte{0x00}}) {
      Problem problem(format, 16, 256, 22);
      fill_quants(format, fill, problem.file);
      problem.matrix = PackedMatrix::pack(format, problem.file, 16, 256, {});
      for (std::size_t i = 0; i < problem.values.size(); ++i) problem.values[i] = i / problem.stride % 2 == 0 ? 1 : -1;
      const auto expected = problem.product(scalar());
      for (const QuantKernels* set : tested) {
        CHECK(same_bits(problem.product(*set), expected));
        for (std::size_t row = 0; row < problem.rows; row += 2) {
          const auto few = problem.product(*set, {row, row + 2}, {0, 16});
          const std::size_t width = problem.matrix.outputs() + 5;
          for (std::size_t i = row * width; i < row * width + 16; ++i) CHECK_EQ(few[i], expected[i]);
        }
      }
    }
  }
}

TEST("multiply: a row's bits do not depend on the other rows, nor on the ranges; nothing else is written") {
  const TestedSets tested;
  for (Format format : kAll) {
    const Problem problem(format, 83, inputs_of(format, 3), 29);
    const std::size_t width = problem.matrix.outputs() + 5;
    for (const QuantKernels* set : tested) {
      const auto whole = problem.product(*set);
      for (const Range rows : {Range{0, 1}, Range{3, 7}, Range{11, 29}, Range{4, 4}}) {
        for (const Range outputs : {Range{0, 16}, Range{32, 83}, Range{80, 83}, Range{16, 16}}) {
          auto expected = std::vector<float>(whole.size(), kUntouched);
          for (std::size_t m = rows.begin; m < rows.end; ++m) {
            for (std::size_t n = outputs.begin; n < outputs.end; ++n) expected[m * width + n] = whole[m * width + n];
          }
          CHECK(same_bits(problem.product(*set, rows, outputs), expected));
        }
      }
    }
  }
}

TEST("multiply: inputs that are not finite spoil no other row") {
  const TestedSets tested;
  for (const QuantKernels* set : tested) {
    Problem problem(Format::kQ8_0, 20, 64, 19);
    const std::size_t width = problem.matrix.outputs() + 5;
    const auto before = problem.product(*set);
    problem.values[problem.stride + 3] = std::nanf("");
    problem.values[problem.stride + 40] = INFINITY;
    const auto after = problem.product(*set);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (i / width != 1) CHECK_EQ(std::bit_cast<std::uint32_t>(before[i]), std::bit_cast<std::uint32_t>(after[i]));
    }
  }
}

#if LOREKEEP_AMX
TEST(
    "multiply: tiles compute rows that fill one, and the product that is tried before permission is asked for is "
    "right") {
  const lorekeep::test::AmxEmulator emulator(amx_int8_permitted());
  if (!emulator.usable() || kernels_named("avx512-vnni") == nullptr) return;
  CHECK(amx_int8_product_is_right());
  const Problem problem(Format::kQ4_1, 16, 64, 16);
  const long before = lorekeep::test::AmxEmulator::instructions();
  const auto alone = problem.product(kAmxInt8Kernels, {0, 15}, {0, 16});
  CHECK_EQ(lorekeep::test::AmxEmulator::instructions(), before);
  const auto whole = problem.product(kAmxInt8Kernels);
  if (!amx_int8_permitted()) CHECK(lorekeep::test::AmxEmulator::instructions() > before);
  CHECK(std::equal(alone.begin(), alone.begin() + 15 * 21, whole.begin()));
}

TEST("multiply: the thread's tiles are afterwards as they were before") {
  const lorekeep::test::AmxEmulator emulator(amx_int8_permitted());
  if (!emulator.usable() || kernels_named("avx512-vnni") == nullptr) return;
  TileConfig others;
  others.palette = 1;
  others.rows[2] = 16;
  others.row_bytes[2] = 32;
  const TileScope scope;
  TileScope::configure(others);
  Problem(Format::kQ6_K, 16, 256, 16).product(kAmxInt8Kernels);
  const TileConfig left = TileScope::current();
  CHECK_EQ(std::memcmp(&left, &others, sizeof left), 0);
}
#endif

// A clock that only products move.
double now = 0;
double clock() noexcept {
  return now;
}
template <int kCost>
void costly(const Product&) noexcept {
  now += kCost;
}
template <int kCost>
QuantKernels kernels_of_cost() {
  QuantKernels found = scalar();
  found.multiply[static_cast<std::size_t>(Format::kQ8_0)] = costly<kCost>;
  return found;
}

TEST("multiply: a measured set is chosen only if it is clearly faster than the usual one") {
  const QuantKernels usual = kernels_of_cost<100>(), slower = kernels_of_cost<120>(), same = kernels_of_cost<97>(),
                     faster = kernels_of_cost<60>();
  CHECK(&faster_kernels(usual, slower, clock) == &usual);
  CHECK(&faster_kernels(usual, same, clock) == &usual);
  CHECK(&faster_kernels(usual, faster, clock) == &faster);
}

}  // namespace
}  // namespace lorekeep::quant
