// Finds one byte string in a stream of bytes, in constant memory and amortised constant time per byte (Knuth, Morris,
// Pratt).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lorekeep::lm {

class StringMatcher {
 public:
  /// Precondition: the pattern is not empty.
  explicit StringMatcher(std::string pattern);

  /// Takes the next byte. Returns whether the pattern ends with it.
  bool push(char byte) noexcept { return (progress_ = next(progress_, byte)) == pattern_.size(); }
  void reset() noexcept { progress_ = 0; }

  /// Number of last bytes that are a beginning of the pattern: the longest such number.
  std::size_t progress() const noexcept { return progress_; }
  const std::string& pattern() const noexcept { return pattern_; }

  /// The progress after one more byte.
  std::size_t next(std::size_t progress, char byte) const noexcept;

 private:
  std::string pattern_;
  std::vector<std::size_t> borders_;  // of each prefix: length of the longest proper prefix that is also a suffix
  std::size_t progress_ = 0;
};

}  // namespace lorekeep::lm
