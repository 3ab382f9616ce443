// Reading groups in vectors of an instruction set, for tile_kernels.h, which names the definitions that the including
// file provides. Internal to native/quant.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "quant/groups.h"
#include "quant/unpack.h"

namespace lorekeep::quant {
namespace {

struct Scales {
  Isa::Floats scale;
  Isa::Floats other;
};

// The quants of a step of a block, as 64 unsigned bytes.
template <class Group>
LOREKEEP_INLINE Isa::Bytes quants_of_step(const Group& group, std::size_t block, int step) {
  if constexpr (requires { group.quants; }) {
    return Isa::load(group.quants[block][step]);
  } else {
    const Isa::Bytes both = Isa::load(group.low[block][step / 2]);
    const Isa::Bytes low = step % 2 == 0 ? Isa::low_halves(both) : Isa::high_halves(both);
    if constexpr (std::is_same_v<Group, GroupIq4Nl>) {
      return Isa::iq4_values(low);
    } else if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
      return Isa::with_high(low, Isa::load(group.high[block][step / 4]), step % 4 * 2, 0x30);
    } else if constexpr (requires { group.high; }) {
      return Isa::with_high(low, Isa::load(group.high[block]), step, 0x10);
    } else {
      return low;
    }
  }
}

template <class Group>
LOREKEEP_INLINE Scales scales_of(const Group& group, std::size_t block) {
  if constexpr (Group::kArithmetic == Arithmetic::kHalves) {
    const Isa::Floats d = Isa::from_halves(group.d);
    return {Isa::mul(d, Isa::from_signed(group.scale[block][0])), Isa::mul(d, Isa::from_signed(group.scale[block][1]))};
  } else if constexpr (Group::kBlocks == kSubBlocks) {
    return {Isa::mul(Isa::from_halves(group.d), Isa::from_unsigned(group.scale[block])),
            Isa::negate(Isa::mul(Isa::from_halves(group.dmin), Isa::from_unsigned(group.minimum[block])))};
  } else if constexpr (Group::kArithmetic == Arithmetic::kMinimum) {
    return {Isa::from_halves(group.scale[block]), Isa::from_halves(group.minimum[block])};
  } else {
    return {Isa::from_halves(group.scale[block]), Isa::zeros()};
  }
}

/// Unpacked blocks as the groups of a format.
template <Arithmetic kHow, int kLargest>
struct UnpackedGroup {
  static constexpr Arithmetic kArithmetic = kHow;
  static constexpr std::size_t kBlocks = 1;
  static constexpr int kMaxQuant = kLargest;
  Unpacked block;
};

template <Arithmetic kHow, int kLargest>
LOREKEEP_INLINE Isa::Bytes quants_of_step(const UnpackedGroup<kHow, kLargest>& group, std::size_t, int step) {
  return Isa::load(group.block.quants[step]);
}

template <Arithmetic kHow, int kLargest>
LOREKEEP_INLINE Scales scales_of(const UnpackedGroup<kHow, kLargest>& group, std::size_t) {
  return {Isa::load_floats(group.block.scale), Isa::load_floats(group.block.other)};
}

template <class Group, Arithmetic kHow, int kLargest>
LOREKEEP_INLINE void unpack_block(const Group& group, std::size_t block, UnpackedGroup<kHow, kLargest>& to) {
#pragma GCC unroll 8
  for (int step = 0; step < static_cast<int>(kSteps); ++step)
    Isa::store(to.block.quants[step], quants_of_step(group, block, step));
  const Scales scales = scales_of(group, block);
  Isa::store_floats(to.block.scale, scales.scale, kLanes);
  if constexpr (kHow != Arithmetic::kCentred) Isa::store_floats(to.block.other, scales.other, kLanes);
}

/// The same for quants that were stored with 128 added. Their signs are kept apart.
struct SignedGroup {
  static constexpr Arithmetic kArithmetic = Arithmetic::kCentred;
  static constexpr std::size_t kBlocks = 1;
  static constexpr int kMaxQuant = kSigned;
  UnpackedSigned block;
};

LOREKEEP_INLINE Scales scales_of(const SignedGroup& group, std::size_t) {
  return {Isa::load_floats(group.block.scale), Isa::zeros()};
}

template <class Group, class I = Isa>
LOREKEEP_INLINE void unpack_block(const Group& group, std::size_t block, SignedGroup& to) {
  typename I::Ints negatives = I::no_ints();
#pragma GCC unroll 8
  for (int step = 0; step < static_cast<int>(kSteps); ++step) {
    const auto split = I::split_signs(quants_of_step(group, block, step));
    I::store(to.block.magnitudes[step], split.magnitudes);
    I::store(to.block.signs[step], split.signs);
    negatives = I::add_negatives(negatives, split);
  }
  I::store_ints(to.block.negatives, negatives);
  I::store_floats(to.block.scale, scales_of(group, block).scale, kLanes);
}

/// Groups of unpacked blocks that tiles of many rows multiply.
template <class Group>
using TileGroup = std::conditional_t<Isa::kSplitsSigns && Group::kMaxQuant == 255, SignedGroup,
                                     UnpackedGroup<Group::kArithmetic, Isa::tile_quant(Group::kMaxQuant)>>;

/// The weights of a step in the form that a set multiplies.
template <class I, class Group>
LOREKEEP_INLINE typename I::template Operand<Group::kMaxQuant> operand_of_step(const Group& group, std::size_t block,
                                                                               int step) {
  if constexpr (std::is_same_v<Group, SignedGroup>) {
    return {I::load(group.block.magnitudes[step]), I::load(group.block.signs[step])};
  } else {
    return {quants_of_step(group, block, step)};
  }
}

// Sums of a block start with the correction for the offset of the quants.
template <class Group, class I = Isa>
LOREKEEP_INLINE Isa::Ints first_sum(const Group& group, std::size_t, std::int32_t negated_sum, int zero_shift) {
  if constexpr (std::is_same_v<Group, SignedGroup>) {
    return I::load_ints(group.block.negatives);
  } else if constexpr (Group::kArithmetic == Arithmetic::kMinimum || (Isa::kCentresBytes && Group::kMaxQuant == 255)) {
    return Isa::no_ints();
  } else if constexpr (requires { Group::kZero; }) {
    return Isa::template shifted<std::countr_zero(static_cast<unsigned>(Group::kZero))>(negated_sum);
  } else {
    return Isa::shifted_by(negated_sum, zero_shift);
  }
}

}  // namespace
}  // namespace lorekeep::quant
