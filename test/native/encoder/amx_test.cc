// The kernels over AMX tiles, on every x86-64 machine with AVX-512 and Linux: emulated where the
// processor has none.
#include "amx_emulator.h"
#if LOREKEEP_AMX
#include <string_view>
#include <vector>

#include "encoder/kernel_sets.h"
#include "harness.h"
#include "products.h"

namespace lorekeep::encoder {
namespace {

using test::AmxEmulator;
using test::difference;
using test::numbers;
using test::rounded;

/// Checks a product by tiles against the scalar one, in a matrix with more columns than the product.
double tiles_against_scalar(std::size_t rows, std::size_t panels, std::size_t depth, bool with_bias, bool accumulate) {
  const std::size_t width = panels * kLanes;
  const Gemm<std::uint16_t> g{nullptr, depth + 6,  nullptr, depth * kLanes, 2 * kLanes, nullptr,
                              nullptr, width + 16, rows,    depth,          panels,     accumulate};
  const auto a = rounded(numbers(rows == 0 ? 1 : (rows - 1) * (depth + 6) + depth, 1));
  const auto b = rounded(numbers(depth * width, 2));
  const auto bias = with_bias ? numbers(width, 4) : std::vector<float>();
  return difference<std::uint16_t>(kScalarKernels.gemm_bf16, gemm_bf16_amx, a, b, g, bias);
}

TEST("amx: products of every number of rows that fills one or two tiles or not, and more") {
  const AmxEmulator emulator(amx_bf16_permitted());
  if (!emulator.usable()) return;
  for (std::size_t rows : {0u, 1u, 2u, 15u, 16u, 17u, 18u, 31u, 32u, 33u, 48u, 49u, 97u}) {
    for (std::size_t panels : {1u, 2u, 3u, 4u, 5u, 9u})
      CHECK(tiles_against_scalar(rows, panels, 64, rows % 2 == 0, panels % 2 == 0) < 1e-6);
  }
}

TEST("amx: products of depths that fill tiles or not, with and without bias, added or stored") {
  const AmxEmulator emulator(amx_bf16_permitted());
  if (!emulator.usable()) return;
  for (std::size_t depth : {2u, 16u, 30u, 32u, 34u, 48u, 96u, 388u}) {
    for (std::size_t rows : {1u, 16u, 20u, 32u}) {
      for (bool bias : {false, true}) {
        for (bool accumulate : {false, true}) CHECK(tiles_against_scalar(rows, 3, depth, bias, accumulate) < 1e-6);
      }
    }
  }
}

TEST("amx: the matrices of all-MiniLM-L6 with the longest text") {
  const AmxEmulator emulator(amx_bf16_permitted());
  if (!emulator.usable()) return;
  CHECK(tiles_against_scalar(512, 2, 1536, true, true) < 1e-6);
  CHECK(tiles_against_scalar(16, 72, 384, true, false) < 1e-6);
}

TEST("amx: a row's product is the same to the last bit beside any other rows") {
  const AmxEmulator emulator(amx_bf16_permitted());
  if (!emulator.usable()) return;
  constexpr std::size_t kDepth = 96;
  constexpr std::size_t kWidth = 80;
  constexpr std::size_t kRows = 49;
  const auto a = rounded(numbers(kRows * kDepth, 1));
  const auto b = rounded(numbers(kWidth * kDepth, 2));
  const auto product = [&b](const std::uint16_t* rows, std::size_t count) {
    std::vector<float> found(count * kWidth);
    gemm_bf16_amx({rows, kDepth, b.data(), kDepth * kLanes, 2 * kLanes, nullptr, found.data(), kWidth, count, kDepth,
                   kWidth / kLanes, false});
    return found;
  };
  const std::vector<float> together = product(a.data(), kRows);
  for (std::size_t row : {0u, 15u, 16u, 31u, 32u, 48u}) {
    const std::vector<float> alone = product(a.data() + row * kDepth, 1);
    CHECK(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(row * kWidth)));
  }
}

TEST("amx: a thread's tiles are configured afterwards as they were before") {
  const AmxEmulator emulator(amx_bf16_permitted());
  if (!emulator.usable()) return;
  CHECK(tiles_against_scalar(20, 3, 48, true, true) < 1e-6);
  CHECK_EQ(int{TileScope::current().palette}, 0);
  TileConfig others;  // as llama.cpp leaves a thread, for good
  others.palette = 1;
  others.rows[2] = 16;
  others.row_bytes[2] = 32;
  {
    const TileScope scope;
    TileScope::configure(others);
    CHECK(tiles_against_scalar(20, 3, 48, true, true) < 1e-6);
    const TileConfig left = TileScope::current();
    CHECK_EQ(int{left.palette}, 1);
    CHECK_EQ(int{left.rows[2]}, 16);
    CHECK_EQ(int{left.row_bytes[2]}, 32);
    CHECK_EQ(int{left.rows[0]}, 0);
  }
  CHECK_EQ(int{TileScope::current().palette}, 0);
}

TEST("amx: the product that is tried before permission is asked for is right") {
  const AmxEmulator emulator(amx_bf16_permitted());
  if (emulator.usable()) CHECK(amx_bf16_product_is_right());
}

TEST("amx: permission is asked for once, and the set is offered exactly where it was granted") {
  const bool permitted = amx_bf16_permitted();
  CHECK_EQ(amx_bf16_permitted(), permitted);
  CHECK_EQ(kernels_named("amx-bf16") != nullptr, permitted && kernels_named("avx512") != nullptr);
  if (permitted) {
    const long before = AmxEmulator::instructions();
    const AmxEmulator emulator(amx_bf16_permitted());
    CHECK(tiles_against_scalar(20, 3, 48, true, true) < 1e-6);
    CHECK_EQ(AmxEmulator::instructions(), before);
  }
}

}  // namespace
}  // namespace lorekeep::encoder
#endif
