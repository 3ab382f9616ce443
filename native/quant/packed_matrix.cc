#include "quant/packed_matrix.h"

#include <algorithm>
#include <cstring>

#include "quant/groups.h"
#include "quant/unpack.h"

namespace lorekeep::quant {
namespace {

constexpr std::uint32_t kLowHalves = 0x0f0f0f0f;

std::uint32_t four(const std::uint8_t* from) noexcept {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(std::uint8_t* to, std::uint32_t value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

// The next three write the 32 quants of a block to one lane of a group, four at a time.

template <class Group>
  requires requires(Group& group) { group.quants; }
void put_quants(Group& group, std::size_t block, std::size_t lane, const std::uint8_t* quants) noexcept {
  for (std::size_t step = 0; step < kSteps; ++step) store(group.quants[block][step][lane], four(quants + step * kStep));
}

template <class Group>
void put_low(Group& group, std::size_t block, std::size_t lane, const std::uint8_t* quants) noexcept {
  for (std::size_t j = 0; j < kSteps / 2; ++j, quants += 2 * kStep)
    store(group.low[block][j][lane], (four(quants) & kLowHalves) | (four(quants + kStep) & kLowHalves) << 4);
}

template <class Group>
  requires requires(Group& group) { group.low; }
void put_quants(Group& group, std::size_t block, std::size_t lane, const std::uint8_t* quants) noexcept {
  put_low(group, block, lane, quants);
  if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
    for (std::size_t j = 0; j < 2; ++j) {
      std::uint32_t bits = 0;
      for (std::size_t s = 0; s < 4; ++s) bits |= (four(quants + (4 * j + s) * kStep) >> 4 & 0x03030303u) << (2 * s);
      store(group.high[block][j][lane], bits);
    }
  } else if constexpr (requires { group.high; }) {
    std::uint32_t bits = 0;
    for (std::size_t s = 0; s < kSteps; ++s) bits |= (four(quants + s * kStep) >> 4 & 0x01010101u) << s;
    store(group.high[block][lane], bits);
  }
}

template <class Group>
void put_scales(Group& group, std::size_t block, std::size_t lane, const typename Group::File& file) noexcept {
  if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
    group.d[lane] = file.d;
    for (std::size_t i = 0; i < 2 * kSubBlocks; ++i) group.scale[i / 2][i % 2][lane] = file.scales[i];
  } else if constexpr (Group::kBlocks == kSubBlocks) {
    group.d[lane] = file.d;
    group.dmin[lane] = file.dmin;
    std::uint8_t scales[kSubBlocks], minima[kSubBlocks];
    small_scales(file.scales, scales, minima);
    for (std::size_t i = 0; i < kSubBlocks; ++i) {
      group.scale[i][lane] = scales[i];
      group.minimum[i][lane] = minima[i];
    }
  } else {
    group.scale[block][lane] = file.scale;
    if constexpr (Group::kArithmetic == Arithmetic::kMinimum) group.minimum[block][lane] = file.minimum;
  }
}

template <class Group>
void pack_lane(const std::byte* row, std::size_t inputs, std::size_t lane, Group* groups) noexcept {
  using File = typename Group::File;
  constexpr std::size_t kValues = Group::kBlocks == kSubBlocks ? kSuperBlock : kBlock;
  for (std::size_t begin = 0; begin < inputs; begin += kValues, row += sizeof(File)) {
    File file;
    std::memcpy(&file, row, sizeof file);
    std::uint8_t quants[kValues];
    quants_of(file, quants);
    Group& group = groups[begin / kBlock / Group::kBlocks];
    const std::size_t first = begin / kBlock % Group::kBlocks;
    for (std::size_t i = 0; i < kValues / kBlock; ++i) put_quants(group, first + i, lane, quants + i * kBlock);
    put_scales(group, first, lane, file);
  }
}

template <class T>
void pack_floats(const std::byte* row, std::size_t inputs, std::size_t lane, std::byte* panel) noexcept {
  for (std::size_t i = 0; i < inputs; ++i)
    std::memcpy(panel + (i * kLanes + lane) * sizeof(T), row + i * sizeof(T), sizeof(T));
}

/// Packs `lanes` rows of a file, `row_bytes()` apart, as one panel (groups.h). The missing lanes of 16 become zeros.
void pack_panel(Format format, const std::byte* rows, std::size_t lanes, std::size_t inputs,
                std::byte* panel) noexcept {
  std::memset(panel, 0, panel_bytes(format, inputs));
  const std::size_t stride = row_bytes(format, inputs);
  for (std::size_t lane = 0; lane < lanes; ++lane, rows += stride) {
    if (format == Format::kF32) {
      pack_floats<float>(rows, inputs, lane, panel);
    } else if (is_float(format)) {
      pack_floats<std::uint16_t>(rows, inputs, lane, panel);
    } else {
      with_group(format, [=]<class Group>() { pack_lane(rows, inputs, lane, reinterpret_cast<Group*>(panel)); });
    }
  }
}

}  // namespace

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

std::shared_ptr<std::byte> PackedMemory::take(std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  bytes = (bytes + kLine - 1) / kLine * kLine;
  if (bytes > chunk_->size() - used_) {
    chunk_ = std::make_shared<Buffer<std::byte>>(std::max(bytes, least_));
    used_ = 0;
  }
  const std::size_t begin = used_;
  used_ += bytes;
  return {chunk_, chunk_->data() + begin};
}

}  // namespace lorekeep::quant
