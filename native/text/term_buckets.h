// Finds terms in the buckets of a text index's dictionary. Their hash is saved, so it is the same everywhere: words can
// be chosen whose entries fill one bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/threads/cancel_token.h"
#include "text/index_data.h"

namespace lorekeep::text {

/// Thread-safe.
class TermBuckets {
 public:
  /// Returns the term's entry if the bucket, its own one, contains it. Reads at most kFew entries and the logarithm of
  /// those that the bucket holds, the first call for a bucket with more all of them. Precondition: this program built
  /// or checked the bucket. Throws as CancelToken::check().
  std::optional<TermEntry> find(const IndexData& data, std::string_view term, std::uint64_t bucket,
                                const CancelToken* cancel) const;

  /// Entries that are read one after the other. Buckets have two on average.
  static constexpr std::size_t kFew = 32;

 private:
  using Offsets = std::vector<std::uint64_t>;
  std::shared_ptr<const Offsets> offsets_of(const IndexData& data, std::uint64_t bucket,
                                            const CancelToken* cancel) const;

  mutable std::mutex mutex_;
  mutable std::unordered_map<std::uint64_t, std::shared_ptr<const Offsets>> long_;  // entries of long buckets
};

}  // namespace lorekeep::text
