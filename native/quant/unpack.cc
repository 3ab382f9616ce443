#include "quant/unpack.h"

#include <type_traits>

#include "core/cpu/bf16.h"
#include "core/cpu/half.h"

namespace lorekeep::quant {
namespace {

template <class Group>
constexpr bool kHasHigh = requires(const Group& group) { group.high; };
template <class Group>
constexpr bool kHasLow = requires(const Group& group) { group.low; };

template <class Group>
std::uint8_t quant(const Group& group, std::size_t block, std::size_t step, std::size_t lane, std::size_t i) noexcept {
  if constexpr (!kHasLow<Group>) {
    return group.quants[block][step][lane][i];
  } else {
    int value = group.low[block][step / 2][lane][i] >> (step % 2 * 4) & 15;
    if constexpr (std::is_same_v<Group, GroupIq4Nl>) return static_cast<std::uint8_t>(kIq4Values[value] + Group::kZero);
    if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
      value |= (group.high[block][step / 4][lane][i] >> (step % 4 * 2) & 3) << 4;
    } else if constexpr (kHasHigh<Group>) {
      value |= (group.high[block][lane][i] >> step & 1) << 4;
    }
    return static_cast<std::uint8_t>(value);
  }
}

template <class Group>
void unpack_scales(const Group& group, std::size_t block, std::size_t lane, Unpacked& to) noexcept {
  if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
    const float d = float_from_half(group.d[lane]);
    to.scale[lane] = d * group.scale[block][0][lane];
    to.other[lane] = d * group.scale[block][1][lane];
  } else if constexpr (Group::kBlocks == kSubBlocks) {
    to.scale[lane] = float_from_half(group.d[lane]) * group.scale[block][lane];
    to.other[lane] = -(float_from_half(group.dmin[lane]) * group.minimum[block][lane]);
  } else {
    to.scale[lane] = float_from_half(group.scale[block][lane]);
    to.other[lane] = 0;
    if constexpr (Group::kArithmetic == Arithmetic::kMinimum)
      to.other[lane] = float_from_half(group.minimum[block][lane]);
  }
}

template <class Group>
void dequantize_groups(const Group* group, std::size_t lane, float* to, std::size_t inputs) noexcept {
  for (std::size_t begin = 0; begin < inputs; begin += kBlock) {
    const std::size_t block = begin / kBlock;
    Unpacked all;
    unpack(group[block / Group::kBlocks], block % Group::kBlocks, all);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto value = static_cast<float>(all.quants[i / kStep][lane][i % kStep] - Group::kZero);
      if constexpr (Group::kArithmetic == Arithmetic::kMinimum) {
        to[begin + i] = all.scale[lane] * value + all.other[lane];
      } else if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
        to[begin + i] = (i < kBlock / 2 ? all.scale : all.other)[lane] * value;
      } else {
        to[begin + i] = all.scale[lane] * value;
      }
    }
  }
}

}  // namespace

template <class Group>
void unpack(const Group& group, std::size_t block, Unpacked& to) noexcept {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (std::size_t k = 0; k < kBlock; ++k)
      to.quants[k / kStep][lane][k % kStep] = quant(group, block, k / kStep, lane, k % kStep);
    unpack_scales(group, block, lane, to);
  }
}
template void unpack(const GroupQ8_0&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupQ4_0&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupQ4_1&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupQ5_0&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupQ5_1&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupQ4_K&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupQ5_K&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupQ6_K&, std::size_t, Unpacked&) noexcept;
template void unpack(const GroupIq4Nl&, std::size_t, Unpacked&) noexcept;

std::size_t panel_bytes(Format format, std::size_t inputs) noexcept {
  if (is_float(format)) return (inputs * kLanes * block_bytes(format) + kLine - 1) / kLine * kLine;
  return with_group(format, [inputs]<class Group>() {
    const std::size_t blocks = inputs / kBlock;
    return (blocks + Group::kBlocks - 1) / Group::kBlocks * sizeof(Group);
  });
}

void dequantize_lane(Format format, const std::byte* panel, std::size_t lane, float* to, std::size_t inputs) noexcept {
  if (format == Format::kF32) {
    const auto* values = reinterpret_cast<const float*>(panel) + lane;
    for (std::size_t i = 0; i < inputs; ++i) to[i] = values[i * kLanes];
  } else if (is_float(format)) {
    const auto* values = reinterpret_cast<const std::uint16_t*>(panel) + lane;
    const auto widen = format == Format::kF16 ? float_from_half : from_bf16;
    for (std::size_t i = 0; i < inputs; ++i) to[i] = widen(values[i * kLanes]);
  } else {
    with_group(format,
               [=]<class Group>() { dequantize_groups(reinterpret_cast<const Group*>(panel), lane, to, inputs); });
  }
}

}  // namespace lorekeep::quant
