#include "vector/scan.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>

#include "vector/scorer.h"

namespace lorekeep::vector {
namespace {

constexpr std::size_t kRowsPerBlock = 1024;
// Sizes of the first blocks. Without codes all their rows are scored exactly, so blocks are small. With codes only the
// rows nearest by code are; the more rows per hit, the better the k-th of them prunes the rest.
constexpr std::size_t kRowsOfFirstBlock = 64;
constexpr std::size_t kFirstRowsPerHit = 8;
// A smaller scan ends before a second thread has woken and found its first rows: 200 µs of one core.
constexpr std::size_t kBytesWorthSharing = 4 << 20;
// Piece of a shared scan that a thread takes at a time: 4096 rows.
constexpr std::size_t kWordsPerPiece = 64;

class Scan {
 public:
  Scan(const ScanQuery& query, SearchCounts& counts)
      : query_(query), counts_(counts), nearest_(std::min(query.k, query.rows.size())) {
    if (query.codes == nullptr) {
      exact_.emplace(query.rows, query.query);
    } else {
      coarse_ = std::make_unique<const Scorer>(query.codes->matrix, query.query);
      error_ = query.codes->distance_error(*coarse_);
      block_ = bounded() ? kRowsPerBlock : std::clamp(kFirstRowsPerHit * query.k, kRowsOfFirstBlock, kRowsPerBlock);
    }
  }

  /// Adds the rows [begin, end).
  void add_all(std::size_t begin, std::size_t end) {
    while (begin < end) {
      ordinals_.resize(std::min(block_, end - begin));
      std::iota(ordinals_.begin(), ordinals_.end(), static_cast<std::uint32_t>(begin));
      begin += ordinals_.size();
      score();
    }
  }

  /// Adds the matching rows in the filter's words [begin, end).
  void add_members(std::size_t begin, std::size_t end) {
    const auto& words = query_.filter->words();
    for (std::size_t i = begin; i < end; ++i) {
      for (std::uint64_t word = words[i]; word != 0; word &= word - 1) {
        ordinals_.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
      if (ordinals_.size() >= block_) score();
    }
    score();
  }

  /// Adds the rows of words [begin, end), 64 rows per word, with or without a filter.
  void add_words(std::size_t begin, std::size_t end) {
    if (query_.filter != nullptr) {
      add_members(begin, end);
    } else {
      add_all(begin * 64, std::min(end * 64, query_.rows.size()));
    }
  }

  std::vector<Scored> take() { return nearest_.take_sorted(); }

 private:
  /// Whether the limit rules rows out from the first one on.
  bool bounded() const noexcept { return query_.limit < std::numeric_limits<float>::infinity(); }

  void score() {
    query_.work.check();
    if (coarse_ && (bounded() || ordinals_.size() > nearest_.room())) {
      codes_.resize(ordinals_.size());
      coarse_->distances(ordinals_.data(), ordinals_.size(), codes_.data());
      counts_.visited += ordinals_.size();
      if (!bounded() && !nearest_.full()) fill();
      drop_far();
    }
    add_exactly(ordinals_);
    ordinals_.clear();
    block_ = std::min(block_ * 2, kRowsPerBlock);
  }

  void add_exactly(std::span<const std::uint32_t> ordinals) {
    if (ordinals.empty()) return;
    if (!exact_) exact_.emplace(query_.rows, query_.query);
    if (distances_.size() < ordinals.size()) distances_.resize(ordinals.size());
    exact_->distances(ordinals.data(), ordinals.size(), distances_.data());
    counts_.visited += ordinals.size();
    for (std::size_t i = 0; i < ordinals.size(); ++i) {
      if (distances_[i] <= query_.limit) nearest_.push({distances_[i], ordinals[i]});
    }
  }

  /// Moves the rows nearest by code from the block, as many as there is room for, and scores them exactly.
  void fill() {
    std::vector<Scored> block(ordinals_.size());
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = {codes_[i], ordinals_[i]};
    const std::size_t room = nearest_.room();
    std::nth_element(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(room), block.end(), NearestFirst());
    for (std::size_t i = 0; i < block.size(); ++i) {
      ordinals_[i] = block[i].ordinal;
      codes_[i] = block[i].score;
    }
    add_exactly(std::span(ordinals_).first(room));
    ordinals_.erase(ordinals_.begin(), ordinals_.begin() + static_cast<std::ptrdiff_t>(room));
    codes_.erase(codes_.begin(), codes_.begin() + static_cast<std::ptrdiff_t>(room));
  }

  /// Keeps the rows of the block that may be among the k nearest by their codes.
  void drop_far() {
    const float worst = nearest_.size() == 0 ? -1.0f : nearest_.worst().score;
    const float limit = (nearest_.full() ? std::min(worst, query_.limit) : query_.limit) + error_;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ordinals_.size(); ++i) {
      ordinals_[kept] = ordinals_[i];
      kept += codes_[i] <= limit ? 1 : 0;
    }
    ordinals_.resize(kept);
  }

  const ScanQuery& query_;
  SearchCounts& counts_;
  std::optional<Scorer> exact_;           // made when a row is scored exactly
  std::unique_ptr<const Scorer> coarse_;  // for codes
  float error_ = 0;
  TopK<NearestFirst> nearest_;
  std::size_t block_ = kRowsOfFirstBlock;
  std::vector<std::uint32_t> ordinals_;  // the block
  std::vector<float> codes_;             // its distances by codes
  std::vector<float> distances_;
};

std::size_t bytes_of(const ScanQuery& query) noexcept {
  const VectorMatrix& read = query.codes != nullptr ? query.codes->matrix : query.rows;
  const std::size_t rows = query.filter == nullptr ? read.size() : query.filter->count();
  return read.size() == 0 ? 0 : rows * (read.row_bytes().size() / read.size());
}

/// Scans in parallel: each thread keeps the nearest rows of its pieces, then the results are merged.
std::vector<Scored> scan_shared(const ScanQuery& query, std::size_t words, SearchCounts& counts) {
  struct Part {
    SearchCounts counts;
    std::unique_ptr<Scan> scan;
  };
  std::vector<Part> parts(query.work.workers);
  parallel_for(query.work, words, kWordsPerPiece, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    Part& part = parts[worker];
    if (!part.scan) part.scan = std::make_unique<Scan>(query, part.counts);
    part.scan->add_words(begin, end);
  });
  std::vector<Scored> nearest;
  for (Part& part : parts) {
    if (!part.scan) continue;
    const std::vector<Scored> found = part.scan->take();
    nearest.insert(nearest.end(), found.begin(), found.end());
    counts.visited += part.counts.visited;
  }
  std::sort(nearest.begin(), nearest.end(), NearestFirst());
  nearest.resize(std::min(nearest.size(), query.k));
  return nearest;
}

}  // namespace

std::vector<Scored> scan(const ScanQuery& query, SearchCounts& counts) {
  const std::size_t words = (query.rows.size() + 63) / 64;
  if (query.work.pool != nullptr && query.work.workers > 1 && bytes_of(query) >= kBytesWorthSharing) {
    return scan_shared(query, words, counts);
  }
  Scan running(query, counts);
  running.add_words(0, words);
  return running.take();
}

}  // namespace lorekeep::vector
