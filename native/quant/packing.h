// Packing of file rows into panels. Internal to native/quant.
#pragma once

#include <cstddef>

#include "quant/format.h"

namespace lorekeep::quant {

/// Packs `lanes` rows of a file, `row_bytes()` apart, as one panel (groups.h). The missing lanes of 16 become zeros.
void pack_panel(Format format, const std::byte* rows, std::size_t lanes, std::size_t inputs, std::byte* panel) noexcept;

}  // namespace lorekeep::quant
