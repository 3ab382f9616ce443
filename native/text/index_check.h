#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cancel_token.h"
#include "core/work.h"
#include "text/index_data.h"

namespace lorekeep::text {

/// Proves the sizes of untrusted index data, and that the lengths add up and the dictionary's buckets lie in order
/// within the entries. Throws Error(kCorrupt) naming `name`. Reads lengths and buckets, no entry.
void check_tables(const IndexData& data, const std::string& name);

/// Proves that untrusted index data are what build_index() would have made of some documents: every size, order, count,
/// length, impact and posting, so that a search needs no checks and cannot be misled by a file that contradicts
/// itself. Throws Error(kCorrupt) naming `name` and the place. Reads each byte once; allocates 8 bytes per document for
/// each of at most 4 threads. Grain of cancellation: 128
/// blocks of postings.
void check_index(const IndexData& data, const std::string& name, const Work& work);

/// Proves the entries of a dictionary bucket when they are first looked for: all that a search of them rests on. What
/// only all postings together can show, that they are exactly the tokens of the documents, is left to check_index().
/// Any number of threads may call at once.
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
  mutable std::vector<std::atomic<std::uint64_t>> sound_;  // a bit for each bucket
};

}  // namespace lorekeep::text
