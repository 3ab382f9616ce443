// The compiled form of a grammar. Internal to native/lm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lorekeep::lm {

/// A run of 1 to 4 byte ranges: UTF-8 of a range of code points.
struct ByteRun {
  std::uint8_t length;
  std::array<std::uint8_t, 4> low;
  std::array<std::uint8_t, 4> high;
};

/// Deterministic automata that read one character of a class, byte by byte. Equal nodes exist once.
struct CharacterNodes {
  static constexpr std::uint32_t kRead = 0;  // the node behind the last byte of a character

  struct Edge {
    std::uint8_t low;
    std::uint8_t high;
    std::uint32_t target;
    auto operator<=>(const Edge&) const = default;
  };

  /// The edges of a node, sorted and disjoint.
  std::span<const Edge> edges(std::uint32_t node) const noexcept {
    return std::span<const Edge>(all).subspan(begins[node], begins[node + 1] - begins[node]);
  }
  /// Returns the node after a byte, or nothing if the class has no such character.
  const Edge* find(std::uint32_t node, std::uint8_t byte) const noexcept;

  std::vector<Edge> all;
  std::vector<std::uint32_t> begins = {0, 0};  // of each node, and the end; node 0 is kRead
};

struct GrammarState {
  enum class Kind : std::uint8_t {
    kEnd,    // the rule is complete
    kSet,    // one character of the class that begins at node `operand`, then next
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
  CharacterNodes nodes;
  std::vector<std::uint32_t> rules;  // their first states
  std::uint32_t root = 0;            // index of the start rule
  /// Bytes of one class are equal to every character class of the grammar.
  std::array<std::uint8_t, 256> byte_class{};
  std::vector<std::uint8_t> class_bytes;  // one byte of each class

  std::size_t bytes() const noexcept;
};

/// Adds the UTF-8 runs of the code points from `first` to `last`, without surrogates, in their order.
void append_byte_runs(char32_t first, char32_t last, std::vector<ByteRun>& runs);

/// Adds the nodes of character classes to a program.
class CharacterNodeBuilder {
 public:
  explicit CharacterNodeBuilder(CharacterNodes& nodes);
  ~CharacterNodeBuilder();
  /// Returns the node at which the characters of the runs begin. Precondition: the runs are sorted, disjoint, and at
  /// least one.
  std::uint32_t add(std::span<const ByteRun> runs);

 private:
  std::uint32_t node(std::span<const ByteRun> runs, std::size_t depth);

  struct Known;
  CharacterNodes& nodes_;
  std::unique_ptr<Known> known_;
};

/// Sets the byte classes of a program by its nodes.
void classify_bytes(GrammarProgram& program);

}  // namespace lorekeep::lm
