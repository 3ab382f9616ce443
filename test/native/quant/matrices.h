#pragma once

#include <cstddef>
#include <vector>

#include "quant/format.h"

namespace lorekeep::quant::test {

inline constexpr Format kAll[] = {Format::kF32,  Format::kF16,  Format::kBf16, Format::kQ8_0,
                                  Format::kQ4_0, Format::kQ4_1, Format::kQ5_0, Format::kQ5_1,
                                  Format::kQ4_K, Format::kQ5_K, Format::kQ6_K, Format::kIq4Nl};

/// Rows of a file with any quants, and scales that keep the weights near one.
std::vector<std::byte> file_rows(Format format, std::size_t outputs, std::size_t inputs, unsigned seed);

/// Numbers between -1 and 1, some of them zero.
std::vector<float> numbers(std::size_t count, unsigned seed);

}  // namespace lorekeep::quant::test
