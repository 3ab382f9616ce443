#include "store/embedding_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/values/error.h"
#include "store/kept_embeddings.h"

namespace lorekeep::store {
namespace {

constexpr std::size_t kRecordGrain = 4096;  // records

}  // namespace

EmbeddingRows::EmbeddingRows(const Records& records, std::size_t dimension, const Digest& key,
                             const CancelToken* cancel)
    : dimension_(dimension), key_(key), order_(records.size()), states_(records.size(), State::kMissing) {
  digests_.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (cancel != nullptr && i % kRecordGrain == 0) cancel->check();
    const std::string_view text = records.texts[i];
    digests_.push_back(digest(std::as_bytes(std::span(text.data(), text.size()))));
  }
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return digests_[a] != digests_[b] ? digests_[a] < digests_[b] : a < b;
  });
  rows_.resize(records.size() * dimension);
}

std::span<float> EmbeddingRows::row(std::size_t ordinal) noexcept {
  return std::span(rows_).subspan(ordinal * dimension_, dimension_);
}

void EmbeddingRows::take_over(const std::filesystem::path& path, bool truncated_too, const CancelToken* cancel) {
  try {
    take_rows(EmbeddingsFile(path, key_, dimension_, cancel), truncated_too);
  } catch (const Error& error) {
    if (error.code() == Code::kCancelled || error.code() == Code::kOutOfMemory) throw;
    refusal_ = error.code() == Code::kNotFound ? "there is none" : error.what();
  }
}

void EmbeddingRows::take_more(std::span<const std::filesystem::path> paths, bool truncated_too,
                              const CancelToken* cancel) {
  std::string refusal = refusal_;
  for (const std::filesystem::path& path : paths) take_over(path, truncated_too, cancel);
  refusal_ = std::move(refusal);
}

void EmbeddingRows::take_rows(const EmbeddingsFile& file, bool truncated_too) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    if (states_[i] != State::kMissing) continue;
    const auto found = file.find(digests_[i]);
    if (!found || (found->truncated && !truncated_too)) continue;
    std::copy(found->vector.begin(), found->vector.end(), row(i).begin());
    states_[i] = found->truncated ? State::kTruncated : State::kWhole;
    ++reused_;
  }
  try {
    file.check_unchanged();
  } catch (const Error&) {
    std::fill(states_.begin(), states_.end(), State::kMissing);
    reused_ = 0;
    throw;
  }
}

EmbeddingPortion EmbeddingRows::next_portion(const Records& records, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(queued_, true)) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const bool first = i == 0 || digests_[order_[i - 1]] != digests_[order_[i]];
      if (first && states_[order_[i]] == State::kMissing) queue_.push_back(order_[i]);
    }
    std::sort(queue_.begin(), queue_.end());
  }
  EmbeddingPortion portion;
  for (std::size_t taken = 0; next_ < queue_.size() && (portion.ordinals.empty() || taken < bytes); ++next_) {
    taken += records.texts[queue_[next_]].size();
    portion.ordinals.push_back(queue_[next_]);
  }
  return portion;
}

void EmbeddingRows::fill(std::span<const std::uint32_t> ordinals, std::span<const float> vectors,
                         std::span<const std::uint32_t> truncated, std::span<const std::uint32_t> failed) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    if (std::binary_search(failed.begin(), failed.end(), i)) continue;
    const Digest& text = digests_[ordinals[i]];
    const bool is_truncated = std::binary_search(truncated.begin(), truncated.end(), i);
    auto same = std::lower_bound(order_.begin(), order_.end(), text,
                                 [this](std::uint32_t a, const Digest& b) { return digests_[a] < b; });
    for (; same != order_.end() && digests_[*same] == text; ++same) {
      const auto vector = vectors.subspan(i * dimension_, dimension_);
      std::copy(vector.begin(), vector.end(), row(*same).begin());
      states_[*same] = is_truncated ? State::kTruncated : State::kWhole;
    }
  }
}

std::size_t EmbeddingRows::missing() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const bool first = i == 0 || digests_[order_[i - 1]] != digests_[order_[i]];
    if (first && states_[order_[i]] == State::kMissing) ++count;
  }
  return count;
}

std::size_t EmbeddingRows::reused() const {
  const std::lock_guard lock(mutex_);
  return reused_;
}

std::size_t EmbeddingRows::truncated() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count(states_.begin(), states_.end(), State::kTruncated));
}

void EmbeddingRows::save(const std::filesystem::path& path, const CancelToken* cancel, const FileOwner* owner) const {
  const std::lock_guard lock(mutex_);
  std::vector<Digest> digests;
  std::vector<std::uint8_t> truncated;
  std::vector<const float*> rows;
  for (const std::uint32_t ordinal : order_) {
    if (states_[ordinal] == State::kMissing) continue;
    if (!digests.empty() && digests.back() == digests_[ordinal]) continue;
    digests.push_back(digests_[ordinal]);
    truncated.push_back(states_[ordinal] == State::kTruncated ? 1 : 0);
    rows.push_back(rows_.data() + std::size_t{ordinal} * dimension_);
  }
  write_embeddings(path, key_, {digests, truncated, rows, dimension_}, cancel, owner);
}

std::size_t EmbeddingRows::save_others(const std::filesystem::path& path, std::span<const std::filesystem::path> files,
                                       const CancelToken* cancel, const FileOwner* owner) const {
  std::vector<Digest> present = digests_;
  std::sort(present.begin(), present.end());
  return unite_embeddings(path, {files, {}, {}, present}, {key_, dimension_}, cancel, owner);
}

std::vector<float> EmbeddingRows::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(rows_, {});
}

}  // namespace lorekeep::store
