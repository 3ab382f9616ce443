// An amount of work that a constraint may do now. Internal to native/lm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace lorekeep::lm {

/// Counts units of some 10 ns: a position of a grammar, a place of a quotation, or a node of a vocabulary's trie that
/// is looked at. Functions that take an Allowance stop soon after none is left, and continue at the next call.
class Allowance {
 public:
  explicit Allowance(std::uint64_t units = std::numeric_limits<std::uint64_t>::max()) : left_(units) {}

  void spend(std::uint64_t units) noexcept {
    spent_ += units;
    left_ -= std::min(left_, units);
  }
  bool over() const noexcept { return left_ == 0; }
  std::uint64_t left() const noexcept { return left_; }
  std::uint64_t spent() const noexcept { return spent_; }

 private:
  std::uint64_t left_;
  std::uint64_t spent_ = 0;
};

}  // namespace lorekeep::lm
