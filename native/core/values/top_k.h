// Collects the k best of a stream in O(log k) per improvement. Ties go to the lower ordinal, so results are
// deterministic. Precondition: no score is NaN; callers refuse such vectors and weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lorekeep {

struct Scored {
  float score;
  std::uint32_t ordinal;
  friend bool operator==(const Scored&, const Scored&) = default;
};

/// Distances: smaller is better.
struct NearestFirst {
  bool operator()(const Scored& a, const Scored& b) const noexcept {
    return a.score != b.score ? a.score < b.score : a.ordinal < b.ordinal;
  }
};

/// Scores: larger is better.
struct HighestFirst {
  bool operator()(const Scored& a, const Scored& b) const noexcept {
    return a.score != b.score ? a.score > b.score : a.ordinal < b.ordinal;
  }
};

template <class Before>
class TopK {
 public:
  explicit TopK(std::size_t k) : k_(k) {}

  std::size_t size() const noexcept { return heap_.size(); }
  /// Number of further candidates that are accepted whatever their scores.
  std::size_t room() const noexcept { return k_ - heap_.size(); }
  bool full() const noexcept { return heap_.size() >= k_; }
  /// The worst member, which a better candidate would displace. Precondition: size() > 0.
  const Scored& worst() const noexcept { return heap_.front(); }

  /// Returns whether the candidate was accepted.
  bool push(Scored candidate) {
    if (k_ == 0) return false;
    if (heap_.size() < k_) {
      heap_.push_back(candidate);
      std::push_heap(heap_.begin(), heap_.end(), before_);
      return true;
    }
    if (!before_(candidate, heap_.front())) return false;
    replace_worst(candidate);
    return true;
  }

  /// Returns the members, best first, and empties the collector.
  std::vector<Scored> take_sorted() {
    std::sort(heap_.begin(), heap_.end(), before_);
    return std::move(heap_);
  }

 private:
  // The children of heap_[i] are heap_[2i + 1] and heap_[2i + 2]; the worse of them moves up until the candidate fits.
  void replace_worst(Scored candidate) noexcept {
    std::size_t hole = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
      if (child + 1 < heap_.size() && before_(heap_[child], heap_[child + 1])) ++child;
      if (!before_(candidate, heap_[child])) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = candidate;
  }

  std::size_t k_;
  Before before_;
  std::vector<Scored> heap_;  // the worst member is at the front
};

}  // namespace lorekeep
