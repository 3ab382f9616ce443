#include "vector/scan.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>

#include "vector/scorer.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kRowsPerBlock = 1024;
// Until k rows are known all rows of a block are scored exactly, so the first blocks are small.
constexpr std::size_t kRowsOfFirstBlock = 64;

class Scan {
 public:
  Scan(const ScanQuery& query, SearchWork& work)
      : query_(query), work_(work), exact_(query.rows, query.query), nearest_(std::min(query.k, query.rows.size())) {
    if (query.codes != nullptr) {
      coarse_ = std::make_unique<const Scorer>(query.codes->matrix, query.query);
      error_ = query.codes->distance_error(*coarse_);
    }
  }

  std::vector<Scored> all() {
    const std::size_t count = query_.rows.size();
    for (std::size_t begin = 0, block = kRowsOfFirstBlock; begin < count;) {
      ordinals_.resize(std::min(block, count - begin));
      std::iota(ordinals_.begin(), ordinals_.end(), static_cast<std::uint32_t>(begin));
      begin += ordinals_.size();
      score();
      block = std::min(block * 2, kRowsPerBlock);
    }
    return nearest_.take_sorted();
  }

  std::vector<Scored> members() {
    const auto& words = query_.filter->words();
    std::size_t block = kRowsOfFirstBlock;
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
        ordinals_.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
      if (ordinals_.size() < block) continue;
      score();
      block = std::min(block * 2, kRowsPerBlock);
    }
    score();
    return nearest_.take_sorted();
  }

 private:
  void score() {
    if (query_.cancel != nullptr) query_.cancel->check();
    if (coarse_) drop_far();
    if (distances_.size() < ordinals_.size()) distances_.resize(ordinals_.size());
    exact_.distances(ordinals_.data(), ordinals_.size(), distances_.data());
    work_.visited += ordinals_.size();
    for (std::size_t i = 0; i < ordinals_.size(); ++i) nearest_.push({distances_[i], ordinals_[i]});
    ordinals_.clear();
  }

  /// Keeps of the block what, judged by codes, may be among the k nearest.
  void drop_far() {
    if (!nearest_.full()) return;
    if (distances_.size() < ordinals_.size()) distances_.resize(ordinals_.size());
    coarse_->distances(ordinals_.data(), ordinals_.size(), distances_.data());
    work_.visited += ordinals_.size();
    const float limit = nearest_.size() == 0 ? -1.0f : nearest_.worst().score + error_;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ordinals_.size(); ++i) {
      ordinals_[kept] = ordinals_[i];
      kept += distances_[i] <= limit ? 1 : 0;
    }
    ordinals_.resize(kept);
  }

  const ScanQuery& query_;
  SearchWork& work_;
  Scorer exact_;
  std::unique_ptr<const Scorer> coarse_;  // of codes
  float error_ = 0;
  TopK<NearestFirst> nearest_;
  std::vector<std::uint32_t> ordinals_;  // the block
  std::vector<float> distances_;
};

}  // namespace

std::vector<Scored> scan(const ScanQuery& query, SearchWork& work) {
  Scan running(query, work);
  return query.filter == nullptr ? running.all() : running.members();
}

}  // namespace lorekeep::vector
