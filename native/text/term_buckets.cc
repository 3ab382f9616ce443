#include "text/term_buckets.h"

#include <algorithm>
#include <utility>

namespace lorekeep::text {

constexpr std::size_t kEntriesPerLook = 4096;  // at the cancel token

std::optional<TermEntry> TermBuckets::find(const IndexData& data, std::string_view term, std::uint64_t bucket,
                                           const CancelToken* cancel) const {
  const std::byte* at = data.entries.data() + data.buckets[bucket];
  const std::byte* const end = data.entries.data() + data.buckets[bucket + 1];
  for (std::size_t i = 0; i < kFew && at < end; ++i) {
    const TermEntry entry = TermEntry::parse(at);
    if (entry.term == term) return entry;
  }
  if (at == end) return std::nullopt;
  const auto offsets = offsets_of(data, bucket, cancel);
  const auto entry_at = [&data](std::uint64_t offset) {
    const std::byte* entry = data.entries.data() + offset;
    return TermEntry::parse(entry);
  };
  const auto place = std::pair(term_hash(term), term);
  const auto found = std::lower_bound(offsets->begin(), offsets->end(), place, [&](std::uint64_t offset, auto wanted) {
    const TermEntry entry = entry_at(offset);
    return std::pair(term_hash(entry.term), entry.term) < wanted;
  });
  if (found == offsets->end()) return std::nullopt;
  const TermEntry entry = entry_at(*found);
  return entry.term == term ? std::optional(entry) : std::nullopt;
}

std::shared_ptr<const TermBuckets::Offsets> TermBuckets::offsets_of(const IndexData& data, std::uint64_t bucket,
                                                                    const CancelToken* cancel) const {
  {
    std::lock_guard lock(mutex_);
    if (const auto known = long_.find(bucket); known != long_.end()) return known->second;
  }
  auto offsets = std::make_shared<Offsets>();
  const std::byte* at = data.entries.data() + data.buckets[bucket];
  const std::byte* const end = data.entries.data() + data.buckets[bucket + 1];
  while (at < end) {
    offsets->push_back(static_cast<std::uint64_t>(at - data.entries.data()));
    TermEntry::parse(at);
    if (offsets->size() % kEntriesPerLook == 0 && cancel != nullptr) cancel->check();
  }
  std::lock_guard lock(mutex_);
  return long_.try_emplace(bucket, std::move(offsets)).first->second;
}

}  // namespace lorekeep::text
