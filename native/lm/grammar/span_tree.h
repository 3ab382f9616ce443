// The spans of texts that begin at given places, as a tree that is built where it is walked. Internal to native/lm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lm/grammar/allowance.h"

namespace lorekeep::lm {

/// A node stands for a span, and has all places where the span occurs; its children are the spans with one byte more.
/// The places of a node follow each other, and become those of its children when a child is first asked for. Each place
/// is looked at once per byte, however many tokens are tried. add() and end_part() come before everything else.
class SpanTree {
 public:
  struct State {
    // Places of the span: the whole tree's at first, none after a refused byte.
    std::uint32_t first = 0;
    std::uint32_t past = 0;
    std::uint32_t length = 0;  // bytes of the span
    std::uint32_t node = 0;    // meaningful with two places or more

    bool operator==(const State&) const = default;
  };

  /// Adds a character. `begins`: a span may begin with it; `ends`: a span may end before it.
  void add(std::string_view character, bool begins, bool ends);
  /// Ends a part: no span goes on behind it, and one that reached it may end.
  void end_part();

  bool empty() const noexcept { return places_.empty(); }
  State start();
  /// Returns false, and no places, if no span goes on with the byte.
  bool step(const State& from, char byte, State& to, Allowance& work);
  /// Whether the span may end. The empty one may not.
  bool may_end(const State& state) const noexcept;

 private:
  struct Node {
    std::uint32_t first;
    std::uint32_t past;
    std::uint32_t children = 0;  // index of the first one
    std::uint16_t count = 0;
    char byte;
    bool divided = false;
    bool ends;
  };

  void divide(std::uint32_t node, std::uint32_t length, Allowance& work);
  bool ends_at(std::uint32_t place, std::uint32_t length) const noexcept { return ends_[place + length]; }

  std::string text_;        // each part is followed by a byte that UTF-8 does not have
  std::vector<bool> ends_;  // whether a span may end before text_[i]
  std::vector<std::uint32_t> places_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> sorted_;
};

}  // namespace lorekeep::lm
