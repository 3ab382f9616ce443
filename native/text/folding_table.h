// Reads the generated tables of foldings, unicode_tables.gen.h and multilingual_tables.gen.h, which have one layout.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lorekeep::text {

/// A record has `flag_bits` flags in its lowest bits; the bit `several_bit`, if the code point folds to several; and a
/// value from `value_bits` on: the folded code point minus its own, or the place of its expansion, shifted by
/// `count_bits`, and their number. An element of an expansion is a code point, shifted by `flag_bits`, and its flags.
template <class BlockOf, class RecordNumber, class Record, class Expansions>
struct FoldingTable {
  char32_t end;  // code points from here on have the record 0
  int block_bits;
  const BlockOf& block_of;
  const RecordNumber& record_number;
  const Record& record;
  const Expansions& expansions;
  int flag_bits;
  int several_bit;
  int value_bits;
  int count_bits;

  constexpr std::int32_t record_of(char32_t code_point) const noexcept {
    if (code_point >= end) return 0;
    const std::size_t block = block_of[code_point >> block_bits];
    const std::size_t offset = code_point & ((1u << block_bits) - 1);
    return record[record_number[(block << block_bits) + offset]];
  }

  /// Calls add(code point, flags) for each code point of the folding.
  template <class Add>
  constexpr void fold(char32_t code_point, Add add) const noexcept {
    const std::uint32_t flags = (1u << flag_bits) - 1;
    const std::int32_t found = record_of(code_point);
    const std::int32_t value = found >> value_bits;
    if ((found & (1 << several_bit)) == 0) {
      add(static_cast<char32_t>(static_cast<std::int32_t>(code_point) + value),
          static_cast<std::uint32_t>(found) & flags);
      return;
    }
    const std::uint32_t* next = expansions.data() + (value >> count_bits);
    for (std::int32_t left = value & ((1 << count_bits) - 1); left > 0; --left, ++next) {
      add(static_cast<char32_t>(*next >> flag_bits), *next & flags);
    }
  }
};

}  // namespace lorekeep::text
