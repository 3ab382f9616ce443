// The values of a matrix, one by one: the slow twin of everything that reads one.
#pragma once

#include <cstddef>

#include "quant/format.h"

namespace lorekeep::quant {

/// Writes the `inputs` values of a row as in the file.
void dequantize_row(Format format, const std::byte* row, float* to, std::size_t inputs) noexcept;

}  // namespace lorekeep::quant
