#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/threads/cancel_token.h"
#include "core/threads/work.h"
#include "text/index_data.h"

namespace lorekeep::text {

/// Checks the sizes of untrusted index data, that the lengths add up, and that the dictionary's buckets are in order
/// and within the entries. Throws Error(kCorrupt) naming `name`. Reads lengths and buckets, no entry.
void check_tables(const IndexData& data, const std::string& name);

/// Proves that build_index() could have made the untrusted index data: checks every size, order, count, length, impact
/// and posting, so that a search needs no checks. Throws Error(kCorrupt) naming `name` and the place. Reads each byte
/// once; allocates 8 bytes per document for each of at most 4 threads. Grain of cancellation: 128 blocks of postings.
void check_index(const IndexData& data, const std::string& name, const Work& work);

/// Checks the entries of a dictionary bucket on first use, as far as a search of them needs. Only check_index() checks
/// that all postings together are exactly the tokens of the documents. Thread-safe.
class FirstUseCheck {
 public:
  /// `data` have passed check_tables() and stay where they are.
  FirstUseCheck(const IndexData& data, std::string name);

  /// Throws Error(kCorrupt) naming the file and the place, Error(kCancelled). `cancel` may be null; its grain is 128
  /// blocks of postings.
  void require_sound(std::uint64_t bucket, const CancelToken* cancel) const {
    if ((sound_[bucket / kBitsPerWord].load(std::memory_order_relaxed) & bit_of(bucket)) == 0) check(bucket, cancel);
  }

 private:
  static constexpr std::uint64_t kBitsPerWord = 64;
  static constexpr std::uint64_t bit_of(std::uint64_t bucket) noexcept {
    return std::uint64_t{1} << bucket % kBitsPerWord;
  }
  void check(std::uint64_t bucket, const CancelToken* cancel) const;

  IndexData data_;
  std::string name_;
  mutable std::vector<std::atomic<std::uint64_t>> sound_;  // one bit per bucket
};

}  // namespace lorekeep::text
