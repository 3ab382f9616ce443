#include "quant/packed_matrix.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness.h"
#include "matrices.h"
#include "naive_dequantize.h"

namespace lorekeep::quant {
namespace {

using test::file_rows;
using test::kAll;

TEST("packed matrix: every row equals the file's, bit for bit, also with a last panel that is not full") {
  for (Format format : kAll) {
    for (std::size_t outputs : {1u, 16u, 35u}) {
      for (std::size_t blocks : {1u, 3u}) {
        const std::size_t inputs = is_float(format) ? 7 * blocks : block_values(format) * blocks;
        const auto rows = file_rows(format, outputs, inputs, 1);
        const auto matrix = PackedMatrix::pack(format, rows, outputs, inputs, {});
        std::vector<float> expected(inputs), found(inputs);
        for (std::size_t i = 0; i < outputs; ++i) {
          dequantize_row(format, rows.data() + i * row_bytes(format, inputs), expected.data(), inputs);
          matrix.row(i, found.data());
          CHECK(std::ranges::equal(found, expected));
          CHECK(std::ranges::any_of(expected, [](float value) { return value != 0; }));
        }
      }
    }
  }
}

TEST("packed matrix: takes at most 10 % more memory than the file") {
  for (Format format : kAll) {
    const std::size_t outputs = 576, inputs = 1536;
    const auto rows = file_rows(format, outputs, inputs, 1);
    const auto matrix = PackedMatrix::pack(format, rows, outputs, inputs, {});
    CHECK(matrix.bytes() >= rows.size());
    CHECK(static_cast<double>(matrix.bytes()) <= 1.1 * static_cast<double>(rows.size()));
  }
}

TEST("packed matrix: several threads pack the same matrix, and cancelling stops them") {
  ThreadPool pool(3);
  const std::size_t outputs = 200, inputs = 512;
  const auto rows = file_rows(Format::kQ4_K, outputs, inputs, 1);
  const auto alone = PackedMatrix::pack(Format::kQ4_K, rows, outputs, inputs, {});
  const auto together = PackedMatrix::pack(Format::kQ4_K, rows, outputs, inputs, {&pool, 4});
  CHECK_EQ(together.bytes(), alone.bytes());
  CHECK(std::equal(together.panel(0), together.panel(0) + together.bytes(), alone.panel(0)));
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, PackedMatrix::pack(Format::kQ4_K, rows, outputs, inputs, {&pool, 4, &cancel}));
}

TEST("packed matrix: matrices in shared memory are their own, and outlive it") {
  const std::size_t outputs = 40, inputs = 96;
  std::vector<PackedMatrix> matrices;
  std::vector<std::vector<std::byte>> files;
  {
    PackedMemory memory(16384);  // a chunk for two of them
    for (unsigned i = 0; i < 5; ++i) {
      files.push_back(file_rows(Format::kQ8_0, outputs, inputs, i));
      matrices.push_back(PackedMatrix::pack(Format::kQ8_0, files.back(), outputs, inputs, {}, memory));
    }
  }
  matrices.erase(matrices.begin());
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(matrices[i].panel(0)) % 64, 0u);
    const auto alone = PackedMatrix::pack(Format::kQ8_0, files[i + 1], outputs, inputs, {});
    CHECK(std::equal(alone.panel(0), alone.panel(0) + alone.bytes(), matrices[i].panel(0)));
  }
}

}  // namespace
}  // namespace lorekeep::quant
