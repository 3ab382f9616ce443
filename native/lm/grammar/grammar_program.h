// The compiled form of a grammar. Internal to native/lm.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lorekeep::lm {

/// A run of 1 to 4 byte ranges: UTF-8 of a range of code points.
struct ByteRun {
  std::uint8_t length;
  std::array<std::uint8_t, 4> low;
  std::array<std::uint8_t, 4> high;
};

struct GrammarState {
  enum class Kind : std::uint8_t {
    kEnd,    // the rule is complete
    kSet,    // one character of sets[operand], then next
    kSplit,  // next or operand
    kCall,   // rules[operand], then next
  };
  Kind kind;
  std::uint32_t operand;
  std::uint32_t next;
};

struct GrammarProgram {
  static constexpr std::uint32_t kEnd = 0;  // the state that ends every rule

  std::vector<GrammarState> states;
  std::vector<std::vector<ByteRun>> sets;
  std::vector<std::uint32_t> rules;  // their first states
  std::uint32_t root = 0;            // index of the start rule
};

/// Returns the UTF-8 runs of the code points from `first` to `last`, without surrogates.
void append_byte_runs(char32_t first, char32_t last, std::vector<ByteRun>& runs);

}  // namespace lorekeep::lm
