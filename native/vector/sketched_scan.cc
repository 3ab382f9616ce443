#include "vector/sketched_scan.h"

#include <algorithm>
#include <limits>

namespace lorekeep::vector {
namespace {

constexpr std::size_t kRowsPerBlock = 1024;
// The rows that seem nearest are scored first, which gives the rest something to be measured against: the more of them,
// the closer that is to the truth.
constexpr std::size_t kLeastScoredFirst = 128;

class Run {
 public:
  Run(const SketchedScan& scan, SearchWork& work)
      : scan_(scan), work_(work), query_(scan.sketches, scan.query), nearest_(scan.k) {}

  std::vector<Scored> run() {
    estimate();
    score_likely();
    score_possible();
    return take();
  }

 private:
  /// First pass: every member's estimate, and the members that seem nearest.
  void estimate() {
    const std::size_t members = scan_.filter.count();
    ordinals_.reserve(members + 64);
    scan_.filter.for_each([this](std::uint32_t ordinal) { ordinals_.push_back(ordinal); });
    bounds_.resize(members);
    float likely[kRowsPerBlock];
    TopK<NearestFirst> first(std::max(kLeastScoredFirst, 4 * scan_.k));
    float worst = std::numeric_limits<float>::infinity();
    for (std::size_t begin = 0; begin < members; begin += kRowsPerBlock) {
      if (scan_.cancel != nullptr) scan_.cancel->check();
      const std::size_t rows = std::min(kRowsPerBlock, members - begin);
      query_.estimate(ordinals_.data() + begin, rows, kSketchMargin, likely, bounds_.data() + begin);
      for (std::size_t i = 0; i < rows; ++i) {
        if (!(likely[i] <= worst)) continue;  // nor what a damaged file makes no number of
        first.push({likely[i], static_cast<std::uint32_t>(begin + i)});
        if (first.full()) worst = first.worst().score;
      }
    }
    work_.visited += members;
    likely_ = first.take_sorted();
  }

  void score_likely() {
    for (const Scored& row : likely_) {
      batch_.push_back(ordinals_[row.ordinal]);
      bounds_[row.ordinal] = kDone;
    }
    score();
  }

  /// Second pass: whatever may still be among the k nearest.
  void score_possible() {
    for (std::size_t begin = 0; begin < bounds_.size(); begin += kRowsPerBlock) {
      const std::size_t end = std::min(begin + kRowsPerBlock, bounds_.size());
      const float limit = nearest_.full() ? nearest_.worst().score : kFurthest;
      const std::size_t before = batch_.size();
      batch_.resize(before + end - begin);
      std::size_t kept = before;
      for (std::size_t i = begin; i < end; ++i) {
        batch_[kept] = ordinals_[i];
        kept += bounds_[i] <= limit ? 1 : 0;
      }
      batch_.resize(kept);
      if (batch_.size() >= kBatch) score();
    }
    score();
  }

  void score() {
    if (scan_.cancel != nullptr) scan_.cancel->check();
    distances_.resize(batch_.size());
    scan_.codes.distances(batch_.data(), batch_.size(), distances_.data());
    work_.visited += batch_.size();
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (distances_[i] > limit()) continue;
      nearest_.push({distances_[i], batch_[i]});
      found_.push_back({distances_[i], batch_[i]});
    }
    batch_.clear();
  }

  /// A row whose codes are further than this is not among the k nearest: the k-th nearest so far, and it, may be off
  /// by the error of their codes. Sketches need no such room: their error is a hundred times that of most codes.
  float limit() const noexcept { return nearest_.full() ? nearest_.worst().score + 2 * scan_.code_error : kFurthest; }

  std::vector<Scored> take() {
    std::erase_if(found_, [limit = limit()](const Scored& row) { return row.score > limit; });
    std::sort(found_.begin(), found_.end(), NearestFirst());
    return std::move(found_);
  }

  static constexpr std::size_t kBatch = 256;
  static constexpr float kFurthest = 3.0f;  // beyond every distance
  static constexpr float kDone = 4.0f;      // beyond every limit

  const SketchedScan& scan_;
  SearchWork& work_;
  SketchQuery query_;
  TopK<NearestFirst> nearest_;  // by codes, of what has been scored
  std::vector<std::uint32_t> ordinals_;
  std::vector<float> bounds_;   // per member: the nearest that it may be
  std::vector<Scored> likely_;  // by place in ordinals_
  std::vector<std::uint32_t> batch_;
  std::vector<float> distances_;
  std::vector<Scored> found_;
};

}  // namespace

std::vector<Scored> scan_sketches(const SketchedScan& scan, SearchWork& work) {
  return Run(scan, work).run();
}

}  // namespace lorekeep::vector
