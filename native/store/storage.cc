#include "store/storage.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/values/error.h"

namespace lorekeep::store {
namespace {

std::vector<Part> one_part(StorageParts parts) {
  std::vector<Part> made;
  made.push_back({std::make_shared<const Segment>(std::move(parts)), nullptr});
  if (made.front().size() == 0) fail(Code::kInvalidArgument, "a storage needs at least one record");
  return made;
}

/// Sets the first rows and ordinals. Returns the number of records.
std::size_t number(std::vector<Part>& parts) {
  std::size_t rows = 0;
  std::size_t records = 0;
  for (Part& part : parts) {
    part.first_row = static_cast<std::uint32_t>(rows);
    part.first_ordinal = static_cast<std::uint32_t>(records);
    rows += (part.segment->size() + 63) / 64 * 64;
    records += part.size();
    if (rows > vector::kMaxRows) {
      fail(Code::kInvalidArgument, "a storage holds at most " + std::to_string(vector::kMaxRows) + " records");
    }
  }
  return records;
}

}  // namespace

Storage::Storage(StorageParts parts) : Storage(one_part(std::move(parts)), 0) {}

Storage::Storage(std::vector<Part> parts, std::uint64_t version) : parts_(std::move(parts)), version_(version) {
  size_ = number(parts_);
  plain_ = parts_.size() == 1 && !parts_.front().removed;
  if (text_index() != nullptr) collect_words();
}

void Storage::collect_words() {
  if (plain_) {
    words_.emplace(*text_index());
    return;
  }
  std::vector<text::CollectionPart> words;
  std::uint64_t tokens = 0;
  for (const Part& part : parts_) {
    const text::DeletedTerms* const removed = part.removed ? part.removed->terms() : nullptr;
    words.push_back({part.segment->text_index(), part.first_row, part.live(), removed});
    tokens += part.segment->text_index()->tokens() - (removed != nullptr ? removed->tokens() : 0);
  }
  words_.emplace(std::move(words), size_, tokens);
}

std::uint32_t Storage::rows() const noexcept {
  return parts_.back().first_row + static_cast<std::uint32_t>(parts_.back().segment->size());
}

std::size_t Storage::part_of_row(std::uint32_t row) const noexcept {
  if (parts_.size() == 1) return 0;
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), row,
                                      [](std::uint32_t at, const Part& part) { return at < part.first_row; });
  return static_cast<std::size_t>(after - parts_.begin()) - 1;
}

std::uint32_t Storage::row_of(std::uint32_t ordinal) const noexcept {
  if (plain_) return ordinal;
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), ordinal,
                                      [](std::uint32_t at, const Part& part) { return at < part.first_ordinal; });
  const Part& part = *(after - 1);
  const std::uint32_t count = ordinal - part.first_ordinal;
  return part.first_row + (part.removed ? part.removed->row_of(count) : count);
}

std::uint32_t Storage::ordinal_of(std::uint32_t row) const noexcept {
  if (plain_) return row;
  const Part& part = parts_[part_of_row(row)];
  const std::uint32_t at = row - part.first_row;
  return part.first_ordinal + (part.removed ? part.removed->live_before(at) : at);
}

std::optional<std::uint32_t> Storage::find_row(std::string_view id) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    const auto row = part->segment->find(id);
    if (row && !(part->removed && part->removed->removed(*row))) return part->first_row + *row;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Storage::find(std::string_view id) const {
  const auto row = find_row(id);
  if (!row) return std::nullopt;
  return ordinal_of(*row);
}

std::vector<float> Storage::embedding(std::uint32_t ordinal) const {
  const Place at = place(ordinal);
  return at.segment.vectors()->row(at.row);
}

void Storage::score(std::span<const float> query, std::span<const std::uint32_t> rows,
                    std::span<float> distances) const {
  if (parts_.size() == 1) return vectors()->score(query, rows, distances);
  std::vector<std::uint32_t> own;
  std::vector<float> found;
  std::vector<std::size_t> places(rows.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::sort(places.begin(), places.end(), [&rows](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const Part& part = parts_[part_of_row(rows[places[begin]])];
    own.clear();
    for (; end < rows.size() && rows[places[end]] - part.first_row < part.segment->size(); ++end) {
      own.push_back(rows[places[end]] - part.first_row);
    }
    found.resize(own.size());
    part.segment->vectors()->score(query, own, found);
    for (std::size_t i = 0; i < own.size(); ++i) distances[places[begin + i]] = found[i];
  }
}

const BackgroundSample& Storage::background() const {
  std::call_once(lazy_->background_once,
                 [this] { lazy_->background = std::make_unique<const BackgroundSample>(*this); });
  return *lazy_->background;
}

std::shared_ptr<const FieldCollection> Storage::field_words(const std::string& field, const Work& work) const {
  const std::lock_guard lock(lazy_->fields_mutex);
  auto& known = lazy_->fields[field];
  if (known) return known;
  std::vector<std::shared_ptr<const text::TextIndex>> indexes;
  std::vector<text::CollectionPart> collected;
  std::uint64_t tokens = 0;
  for (const Part& part : parts_) {
    const Segment& segment = *part.segment;
    indexes.push_back(segment.field_texts().index(segment.metadata(), field, segment.text_index()->tokenizer(), work));
    const text::TextIndex& index = *indexes.back();
    collected.push_back({&index, part.first_row, part.live(), nullptr});
    tokens += index.tokens();
    if (!part.removed) continue;
    for (std::uint32_t row = 0; row < segment.size(); ++row) {
      if (part.removed->removed(row)) tokens -= index.data().lengths[row];
    }
  }
  text::TextCollection all =
      plain_ ? text::TextCollection(*indexes.front()) : text::TextCollection(std::move(collected), size_, tokens);
  known = std::make_shared<const FieldCollection>(FieldCollection{std::move(indexes), std::move(all)});
  return known;
}

void Storage::check_files() const {
  for (const Part& part : parts_) part.segment->check_files();
}

std::size_t Storage::memory_bytes() const noexcept {
  std::size_t total = 0;
  for (const Part& part : parts_) {
    total += part.segment->memory_bytes() + (part.removed ? part.removed->memory_bytes() : 0);
  }
  return total;
}

std::size_t Storage::heap_bytes() const noexcept {
  std::size_t total = 0;
  for (const Part& part : parts_) {
    total += part.segment->heap_bytes() + (part.removed ? part.removed->memory_bytes() : 0);
  }
  return total;
}

}  // namespace lorekeep::store
