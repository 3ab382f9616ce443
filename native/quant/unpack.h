// Reading packed weights. Internal to native/quant.
#pragma once

#include "quant/groups.h"

namespace lorekeep::quant {

/// A block of a panel, in the form that the kernels for many rows multiply.
struct alignas(kLine) Unpacked {
  Step quants[kSteps];
  float scale[kLanes];  // of the first half of the block, if halves have their own
  float other[kLanes];  // the minimum, or the scale of the second half
};

/// A block of centred bytes w, for processors that multiply unsigned bytes with signed ones only, and add pairs of
/// products in 16 bits: w * x = |w| * (x ^ sign) + (w < 0 ? |w| : 0), where the sign of negative bytes is -1, else 0.
struct alignas(kLine) UnpackedSigned {
  Step magnitudes[kSteps];
  Step signs[kSteps];
  std::int32_t negatives[kLanes];  // the sums of the magnitudes of negative bytes
  float scale[kLanes];
};

/// Unpacks block `block` of `group`. The slow twin of the kernels' unpacking.
template <class Group>
void unpack(const Group& group, std::size_t block, Unpacked& to) noexcept;

/// Bytes of a panel, a multiple of the cache line.
std::size_t panel_bytes(Format format, std::size_t inputs) noexcept;

/// Writes `inputs` values of one output of a panel.
void dequantize_lane(Format format, const std::byte* panel, std::size_t lane, float* to, std::size_t inputs) noexcept;

}  // namespace lorekeep::quant
