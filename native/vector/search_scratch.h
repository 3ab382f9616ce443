// Working memory of searches, reused by later searches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "vector/candidate_pool.h"

namespace lorekeep::vector {

/// A set of visited nodes, one bit each: for 100,000 nodes it fits the first-level cache. Clearing costs one step per
/// visited node, not per node.
class VisitedSet {
 public:
  void reset(std::size_t size) {
    for (std::uint32_t node : members_) words_[node >> 6] = 0;
    members_.clear();
    if (words_.size() * 64 < size) words_.resize((size + 63) / 64);
  }
  bool contains(std::uint32_t node) const noexcept { return (words_[node >> 6] >> (node & 63)) & 1u; }
  /// Returns whether the node is new.
  bool insert(std::uint32_t node) {
    std::uint64_t& word = words_[node >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (node & 63);
    if ((word & bit) != 0) return false;
    word |= bit;
    members_.push_back(node);
    return true;
  }
  std::size_t size() const noexcept { return members_.size(); }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> members_;
};

struct SearchScratch {
  VisitedSet visited;
  CandidatePool pool;
  std::vector<std::uint32_t> batch;  // nodes to score
  std::vector<float> distances;      // of the batch
};

/// Grows to the largest number of concurrent searches; scratches are freed with the pool.
class ScratchPool {
 public:
  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    ~Lease() { pool_.give(std::move(scratch_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    SearchScratch& operator*() const noexcept { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<SearchScratch> scratch_;
  };

 private:
  std::unique_ptr<SearchScratch> take() {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
      free_.reserve(++made_);  // so that give() cannot throw
    }
    return std::make_unique<SearchScratch>();
  }
  void give(std::unique_ptr<SearchScratch> scratch) noexcept {
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<SearchScratch>> free_;
  std::size_t made_ = 0;
};

}  // namespace lorekeep::vector
