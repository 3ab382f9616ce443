#include "quant/packed_matrix.h"

#include <algorithm>

#include "quant/groups.h"
#include "quant/packing.h"
#include "quant/unpack.h"

namespace lorekeep::quant {

PackedMatrix PackedMatrix::pack(Format format, std::span<const std::byte> rows, std::size_t outputs, std::size_t inputs,
                                const Work& work) {
  PackedMemory exact(0);
  return pack(format, rows, outputs, inputs, work, exact);
}

PackedMatrix PackedMatrix::pack(Format format, std::span<const std::byte> rows, std::size_t outputs, std::size_t inputs,
                                const Work& work, PackedMemory& memory) {
  PackedMatrix matrix;
  matrix.format_ = format;
  matrix.outputs_ = outputs;
  matrix.inputs_ = inputs;
  matrix.panel_bytes_ = quant::panel_bytes(format, inputs);
  const std::size_t panels = (outputs + kLanes - 1) / kLanes;
  matrix.bytes_ = panels * matrix.panel_bytes_;
  matrix.data_ = memory.take(matrix.bytes_);
  const std::size_t from = kLanes * row_bytes(format, inputs);
  parallel_for(work, panels, 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      pack_panel(format, rows.data() + i * from, std::min(kLanes, outputs - i * kLanes), inputs,
                 matrix.data_.get() + i * matrix.panel_bytes_);
    }
  });
  return matrix;
}

void PackedMatrix::row(std::size_t output, float* to) const noexcept {
  dequantize_lane(format_, panel(output / kLanes), output % kLanes, to, inputs_);
}

}  // namespace lorekeep::quant
