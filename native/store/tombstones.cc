#include "store/tombstones.h"

#include <algorithm>
#include <bit>

#include "store/segment.h"

namespace lorekeep::store {
namespace {

std::uint32_t ones(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(std::popcount(word));
}

}  // namespace

std::shared_ptr<const Tombstones> Tombstones::with(const Tombstones* before, const Segment& segment,
                                                   std::span<const std::uint32_t> rows, const Work& work) {
  auto made = std::make_shared<Tombstones>();
  made->live_ = before != nullptr ? before->live_ : Bitmap(segment.size(), true);
  for (const std::uint32_t row : rows) made->live_.reset(row);
  const auto& words = made->live_.words();
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % kWordsPerCount == 0) made->counts_.push_back(count);
    count += ones(words[i]);
  }
  made->live_rows_ = count;
  if (segment.text_index() != nullptr) {
    made->terms_ = text::DeletedTerms::with(
        before != nullptr ? before->terms() : nullptr, *segment.text_index(), rows,
        [&segment](std::size_t row) { return segment.text(static_cast<std::uint32_t>(row)); }, work);
  }
  return made;
}

std::uint32_t Tombstones::live_before(std::uint32_t row) const noexcept {
  const std::size_t word = row / 64;
  const std::size_t group = word / kWordsPerCount;
  std::uint32_t count = counts_[group];
  const auto& words = live_.words();
  for (std::size_t i = group * kWordsPerCount; i < word; ++i) count += ones(words[i]);
  return count + ones(words[word] & ((std::uint64_t{1} << row % 64) - 1));
}

std::uint32_t Tombstones::row_of(std::uint32_t count) const noexcept {
  const auto after = std::upper_bound(counts_.begin(), counts_.end(), count);
  const auto group = static_cast<std::size_t>(after - counts_.begin()) - 1;
  std::uint32_t left = count - counts_[group];
  const auto& words = live_.words();
  std::size_t i = group * kWordsPerCount;
  for (; ones(words[i]) <= left; ++i) left -= ones(words[i]);
  std::uint64_t word = words[i];
  for (; left > 0; --left) word &= word - 1;
  return static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
}

std::size_t Tombstones::memory_bytes() const noexcept {
  return live_.words().capacity() * sizeof(std::uint64_t) + counts_.capacity() * sizeof(std::uint32_t) +
         (terms_ ? terms_->memory_bytes() : 0);
}

}  // namespace lorekeep::store
