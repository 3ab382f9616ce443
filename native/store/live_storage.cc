#include "store/live_storage.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "core/values/error.h"
#include "store/batch.h"
#include "vector/hnsw_index.h"

namespace lorekeep::store {
namespace {

/// Parts of at most this many rows are merged within a batch.
constexpr std::size_t kInlineRows = 2048;
/// This many parts of about the same size become one. A record is rewritten once per factor of it.
constexpr std::size_t kFanIn = 2;
/// Smaller parts are merged whatever their sizes: a search spends about as much on a part as on this many rows.
constexpr std::size_t kSmallRows = 8;
/// Share of removed rows, or of rows behind the largest part, from which the largest part is rewritten.
constexpr double kRewriteShare = 0.2;
/// The same for another part and the rows after it. Links of its graph are kept, as at most kMaxChangedShare is new.
constexpr double kSmallerRewriteShare = 0.25;

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// The power of kFanIn that the rows reach, in units of kSmallRows.
std::size_t level_of(const Part& part) noexcept {
  std::size_t level = 0;
  for (std::size_t rows = part.segment->size() / kSmallRows; rows >= kFanIn; rows /= kFanIn) ++level;
  return level;
}

std::size_t largest_of(const std::vector<Part>& parts) noexcept {
  const auto largest = std::max_element(
      parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.segment->size() < b.segment->size(); });
  return static_cast<std::size_t>(largest - parts.begin());
}

/// Returns where the parts at the end begin that are to become one: at least kFanIn of at most the last one's level,
/// from `least` on.
std::size_t tail_begin(const std::vector<Part>& parts, std::size_t least) noexcept {
  std::size_t begin = parts.size();
  for (std::size_t level = level_of(parts.back()); begin > least && level_of(parts[begin - 1]) <= level; --begin) {
  }
  return parts.size() - begin >= kFanIn ? begin : parts.size();
}

std::size_t rows_of(std::span<const Part> parts) noexcept {
  std::size_t rows = 0;
  for (const Part& part : parts) rows += part.segment->size();
  return rows;
}

std::shared_ptr<const Segment> merged(std::span<const Part> parts, const SegmentKind& kind, const Work& work) {
  std::vector<MergedPart> live;
  for (const Part& part : parts) live.push_back({part.segment, part.live()});
  return merge_segments(live, kind, work);
}

/// Whether two storages have vectors of one length, and the same fields.
bool same_kind(const Storage& a, const Storage& b) {
  const filter::Columns* const fields = a.metadata();
  const filter::Columns* const others = b.metadata();
  if ((a.vectors() == nullptr) != (b.vectors() == nullptr) || (fields == nullptr) != (others == nullptr)) return false;
  if (a.vectors() != nullptr && a.vectors()->dimension() != b.vectors()->dimension()) return false;
  return fields == nullptr || fields->schema() == others->schema();
}

/// Removes parts without records; leaves one empty segment if none has any.
void drop_empty(std::vector<Part>& parts, const SegmentKind& kind) {
  const std::shared_ptr<const Segment> first = parts.front().segment;
  std::erase_if(parts, [](const Part& part) { return part.size() == 0; });
  if (parts.empty()) parts.push_back({first->size() == 0 ? first : empty_segment(*first, kind), nullptr});
}

}  // namespace

LiveStorage::LiveStorage(std::shared_ptr<const Storage> first, bool frozen)
    : kind_(kind_of(*first)), frozen_(frozen), current_(first_version(std::move(first))) {}

LiveStorage::LiveStorage(std::shared_ptr<const Storage> first, const SegmentKind& kind)
    : kind_(kind), frozen_(false), current_(first_version(std::move(first))) {}

LiveStorage::Version LiveStorage::first_version(std::shared_ptr<const Storage> storage) {
  const std::int64_t now = now_ms();
  return {std::move(storage), now, now};
}

void LiveStorage::refuse_frozen() const {
  if (frozen_) fail(Code::kUnsupported, "a pinned version of a storage cannot be changed");
}

std::shared_ptr<const Storage> LiveStorage::current() const {
  const std::lock_guard lock(mutex_);
  return current_.storage;
}

std::shared_ptr<const Storage> LiveStorage::at(std::uint64_t version) const {
  std::vector<Version> gone;  // freed after the lock is released
  const std::lock_guard lock(mutex_);
  drop_aged(gone);
  if (version == current_.storage->version()) return current_.storage;
  for (const Version& kept : kept_) {
    if (kept.storage->version() == version) return kept.storage;
  }
  fail(Code::kVersionGone, "version " + std::to_string(version) + " of the storage is not kept",
       {{"version", static_cast<std::int64_t>(current_.storage->version())}});
}

std::vector<VersionFacts> LiveStorage::versions() const {
  std::vector<Version> gone;  // freed after the lock is released
  const std::lock_guard lock(mutex_);
  drop_aged(gone);
  std::vector<VersionFacts> facts;
  for (const Version& kept : kept_) facts.push_back({kept.storage->version(), kept.time_ms, kept.storage->size()});
  facts.push_back({current_.storage->version(), current_.time_ms, current_.storage->size()});
  return facts;
}

void LiveStorage::keep(const VersionLimits& limits) {
  std::vector<Version> gone;  // freed after the lock is released
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  const std::size_t old = count_old(current_);
  gone.reserve(old);
  drop_old(old, gone);
}

Changed LiveStorage::update(Changes&& changes, const Work& work) {
  refuse_frozen();
  const std::lock_guard writing(writing_);
  return apply_locked(std::move(changes), std::nullopt, work);
}

Changed LiveStorage::apply(Changes&& changes, std::uint64_t version, const Work& work,
                           std::optional<std::int64_t> time_ms) {
  refuse_frozen();
  const std::lock_guard writing(writing_);
  const std::shared_ptr<const Storage> before = current();
  if (version < before->version()) fail(Code::kInvalidArgument, "version: is less than the storage's");
  std::erase_if(changes.removed, [&](const std::string& id) { return !before->find_row(id); });
  changes.upsert = true;
  return apply_locked(std::move(changes), version, work, time_ms);
}

void LiveStorage::adopt(const LiveStorage& later) {
  refuse_frozen();
  const std::lock_guard writing(writing_);
  const Version next = [&] {
    const std::lock_guard lock(later.mutex_);
    return later.current_;
  }();
  const std::shared_ptr<const Storage> before = current();
  if (next.storage->version() <= before->version()) {
    fail(Code::kInvalidArgument, "version: is not later than the storage's");
  }
  if (!same_kind(*before, *next.storage)) fail(Code::kInvalidArgument, "the storage has other fields or vectors");
  for (const auto& segment : segments()) segment->wipe_when_freed();
  publish(next.storage, true, next.time_ms);
  std::vector<Version> gone;  // freed after the lock is released
  const std::lock_guard lock(mutex_);
  std::move(kept_.begin(), kept_.end(), std::back_inserter(gone));
  kept_.clear();
}

void LiveStorage::set_time(std::int64_t time_ms) {
  const std::lock_guard lock(mutex_);
  current_.time_ms = time_ms;
  current_.latest_ms = kept_.empty() ? time_ms : std::max(time_ms, kept_.back().latest_ms);
}

/// Precondition: writing_ is held.
Changed LiveStorage::apply_locked(Changes&& changes, std::optional<std::uint64_t> version, const Work& work,
                                  std::optional<std::int64_t> time_ms) {
  const std::shared_ptr<const Storage> before = current();
  Batch batch(*before, std::move(changes));
  Changed changed = batch.changed();
  changed.version = version.value_or(changed.version);
  if (changed.version == before->version()) return changed;
  std::vector<Part> parts = std::move(batch).apply(kind_, work);
  drop_empty(parts, kind_);
  merge_tail(parts, work);
  work.check();
  publish(std::make_shared<const Storage>(std::move(parts), changed.version), true, time_ms);
  return changed;
}

/// Merges small parts at the end. Leaves the segments of a running merge alone.
void LiveStorage::merge_tail(std::vector<Part>& parts, const Work& work) const {
  const auto busy = std::find_if(parts.rbegin(), parts.rend(), [this](const Part& part) {
    return std::find(busy_.begin(), busy_.end(), part.segment) != busy_.end();
  });
  const auto least = static_cast<std::size_t>(parts.rend() - busy);
  for (;;) {
    const std::size_t begin = tail_begin(parts, least);
    const auto tail = std::span(parts).subspan(begin);
    if (tail.empty() || rows_of(tail) > kInlineRows) return;
    Part one{merged(tail, kind_, work), nullptr};
    parts.resize(begin);
    parts.push_back(std::move(one));
  }
}

void LiveStorage::publish(std::shared_ptr<const Storage> next, bool new_version, std::optional<std::int64_t> time_ms) {
  std::vector<Version> gone;  // freed after the lock is released
  const std::lock_guard lock(mutex_);
  if (!new_version) {
    gone.push_back({std::exchange(current_.storage, std::move(next)), 0, 0});
    return;
  }
  const std::int64_t time = time_ms.value_or(now_ms());
  Version later{std::move(next), time, std::max(time, current_.latest_ms)};
  // Whatever takes memory comes before the first change that can be seen.
  kept_.push_back(current_);
  try {
    const std::size_t old = count_old(later);
    gone.reserve(old);
    current_ = std::move(later);
    drop_old(old, gone);
  } catch (...) {
    kept_.pop_back();
    throw;
  }
}

/// Returns how many versions are beyond the limits when `current` is the newest. Precondition: mutex_ is held.
std::size_t LiveStorage::count_old(const Version& current) const {
  const std::size_t beyond = kept_.size() > limits_.count ? kept_.size() - limits_.count : 0;
  std::set<const Segment*> known;
  for (const Part& part : current.storage->parts()) known.insert(part.segment.get());
  std::size_t bytes = 0;
  std::int64_t ended = current.latest_ms;
  const std::int64_t now = now_ms();
  for (std::size_t i = kept_.size(); i > beyond; --i) {
    const Version& version = kept_[i - 1];
    for (const Part& part : version.storage->parts()) {
      bytes += part.removed ? part.removed->memory_bytes() : 0;
      if (known.insert(part.segment.get()).second) bytes += part.segment->memory_bytes();
    }
    if (bytes > limits_.bytes || now - ended > limits_.age_ms) return i;
    ended = version.latest_ms;
  }
  return beyond;
}

/// Moves the oldest `count` versions to `gone`, which has room for them. Precondition: mutex_ is held.
void LiveStorage::drop_old(std::size_t count, std::vector<Version>& gone) const noexcept {
  const auto end = kept_.begin() + static_cast<std::ptrdiff_t>(count);
  std::move(kept_.begin(), end, std::back_inserter(gone));
  kept_.erase(kept_.begin(), end);
}

/// Moves the versions that have become too old since the last change to `gone`. Precondition: mutex_ is held.
void LiveStorage::drop_aged(std::vector<Version>& gone) const {
  const std::int64_t now = now_ms();
  std::size_t aged = 0;
  while (aged < kept_.size()) {
    const Version& next = aged + 1 < kept_.size() ? kept_[aged + 1] : current_;
    if (now - next.latest_ms <= limits_.age_ms) break;
    ++aged;
  }
  gone.reserve(aged);
  drop_old(aged, gone);
}

LiveStorage::Range LiveStorage::due_range(const Storage& storage) const {
  const std::vector<Part>& parts = storage.parts();
  const std::size_t all = rows_of(parts);
  const std::size_t largest = largest_of(parts);
  const auto rows = static_cast<double>(parts[largest].segment->size());
  const double removed = rows - static_cast<double>(parts[largest].size());
  const double behind = static_cast<double>(all) - rows;
  const double limit = kRewriteShare * rows;
  if (all > kInlineRows && (removed >= limit || (parts.size() > 1 && behind >= limit))) return {0, parts.size()};
  std::size_t after = 0;
  for (std::size_t i = largest + 1; i < parts.size(); ++i) after += parts[i].segment->size();
  for (std::size_t i = largest + 1; i + 1 < parts.size() && after > kInlineRows; ++i) {
    const std::size_t own = parts[i].segment->size();
    if (static_cast<double>(after - own) >= kSmallerRewriteShare * static_cast<double>(own)) return {i, parts.size()};
    after -= own;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (lacks_graph(*parts[i].segment)) return {i, i + 1};
  }
  return {};
}

/// Whether a batch was so large that its part needs a graph.
bool LiveStorage::lacks_graph(const Segment& segment) const noexcept {
  return kind_.graph && segment.size() >= kMinGraphRows && segment.vectors() != nullptr &&
         dynamic_cast<const vector::HnswIndex*>(segment.vectors()) == nullptr;
}

namespace {

/// Whether a version has the record in a row of a segment.
bool is_live(const Storage& storage, const Segment& segment, std::uint32_t row) {
  return std::ranges::any_of(storage.parts(), [&](const Part& part) {
    return part.segment.get() == &segment && !(part.removed && part.removed->removed(row));
  });
}

}  // namespace

Changed LiveStorage::forget(std::span<const std::string> ids, bool missing_is_fine, const Work& work) {
  const std::lock_guard merging(merging_);  // a merge would copy the records of older versions' parts
  Changes changes;
  {
    const auto storage = current();
    for (const std::string& id : ids) {
      if (!missing_is_fine || storage->find_row(id)) changes.removed.push_back(id);
    }
  }
  Changed changed = update(std::move(changes), work);
  rewrite_without(ids, nullptr, work);
  return changed;
}

void LiveStorage::forget_former(std::span<const std::string> ids, const Work& work) {
  const std::lock_guard merging(merging_);
  const auto newest = current();
  rewrite_without(ids, newest.get(), work);
}

/// Rewrites the segments with records of these ids, in all versions. Records of `keep` stay. Precondition: merging_ is
/// held.
void LiveStorage::rewrite_without(std::span<const std::string> ids, const Storage* keep, const Work& work) {
  const std::set<std::string_view> forgotten(ids.begin(), ids.end());
  std::map<const Segment*, Rewritten> rewritten;
  for (const auto& segment : segments()) {
    Bitmap kept(segment->size(), true);
    for (const std::string_view id : forgotten) {
      const auto row = segment->find(id);
      if (row && !(keep != nullptr && is_live(*keep, *segment, *row))) kept.reset(*row);
    }
    if (kept.count() == segment->size()) continue;
    const MergedPart part{segment, &kept};
    auto made = merge_segments({&part, 1}, kind_, work);
    rewritten.emplace(segment.get(), Rewritten{segment, std::move(made), std::move(kept)});
  }
  rewrite(rewritten);
}

/// All segments of all versions.
std::vector<std::shared_ptr<const Segment>> LiveStorage::segments() const {
  const std::lock_guard lock(mutex_);
  std::map<const Segment*, std::shared_ptr<const Segment>> found;
  const auto add = [&](const Storage& storage) {
    for (const Part& part : storage.parts()) found.emplace(part.segment.get(), part.segment);
  };
  for (const Version& version : kept_) add(*version.storage);
  add(*current_.storage);
  std::vector<std::shared_ptr<const Segment>> all;
  for (auto& [key, segment] : found) all.push_back(std::move(segment));
  return all;
}

/// Puts rewritten segments in the place of those with forgotten records, in all versions.
void LiveStorage::rewrite(const std::map<const Segment*, Rewritten>& rewritten) {
  const auto anew = [&](const Storage& storage) {
    std::vector<Part> parts = storage.parts();
    for (Part& part : parts) {
      const auto found = rewritten.find(part.segment.get());
      if (found == rewritten.end()) continue;
      const auto& [before, after, kept] = found->second;
      std::vector<std::uint32_t> removed;
      std::uint32_t next = 0;
      for (std::uint32_t row = 0; row < before->size(); ++row) {
        if (!kept.test(row)) continue;
        if (part.removed && part.removed->removed(row)) removed.push_back(next);
        ++next;
      }
      part = {after, removed.empty() ? nullptr : Tombstones::with(nullptr, *after, removed)};
    }
    drop_empty(parts, kind_);
    return std::make_shared<const Storage>(std::move(parts), storage.version());
  };
  for (const auto& [key, one] : rewritten) one.before->wipe_when_freed();
  const std::lock_guard writing(writing_);
  std::map<std::shared_ptr<const Storage>, std::shared_ptr<const Storage>> storages;  // freed after mutex_ is released
  {
    const std::lock_guard lock(mutex_);
    for (const Version& version : kept_) storages.emplace(version.storage, nullptr);
    storages.emplace(current_.storage, nullptr);
  }
  for (auto& [before, after] : storages) after = anew(*before);
  const std::lock_guard lock(mutex_);
  for (Version& version : kept_) version.storage = storages.at(version.storage);
  current_.storage = storages.at(current_.storage);
}

MergingFacts LiveStorage::merging() const {
  const auto storage = current();
  MergingFacts facts;
  const auto& parts = storage->parts();
  facts.parts = parts.size();
  facts.due = !due_range(*storage).empty();
  const auto all = static_cast<double>(rows_of(parts));
  if (all == 0) return facts;
  facts.removed_share = 1 - static_cast<double>(storage->size()) / all;
  facts.changed_share = 1 - static_cast<double>(parts[largest_of(parts)].segment->size()) / all;
  return facts;
}

bool LiveStorage::merge(bool all, const Work& work) {
  refuse_frozen();
  const std::lock_guard merging(merging_);
  std::vector<Part> parts;
  {
    const std::lock_guard writing(writing_);
    const auto storage = current();
    if (all && storage->plain() && !lacks_graph(*storage->parts().front().segment)) return false;
    const Range range = all ? Range{0, storage->parts().size()} : due_range(*storage);
    if (range.empty()) return false;
    parts.assign(storage->parts().begin() + static_cast<std::ptrdiff_t>(range.begin),
                 storage->parts().begin() + static_cast<std::ptrdiff_t>(range.end));
    for (const Part& part : parts) busy_.push_back(part.segment);
  }
  struct Release {
    LiveStorage& live;
    ~Release() {
      const std::lock_guard writing(live.writing_);
      live.busy_.clear();
    }
  } release{*this};
  auto segment = merged(parts, kind_, work);
  replace(parts, std::move(segment));
  return true;
}

/// Puts a segment of the records of `old` in their place. Records removed since become tombstones of the segment.
void LiveStorage::replace(const std::vector<Part>& old, std::shared_ptr<const Segment> segment) {
  const std::lock_guard writing(writing_);
  const auto storage = current();
  std::vector<Part> parts;
  std::vector<std::uint32_t> removed;  // rows of the new segment
  std::uint32_t first = 0;             // row of the new segment
  std::size_t place = 0;
  for (const Part& part : storage->parts()) {
    const auto was = std::find_if(old.begin(), old.end(), [&](const Part& a) { return a.segment == part.segment; });
    if (was == old.end()) {
      parts.push_back(part);
      continue;
    }
    place = parts.size();
  }
  // Parts whose records were all removed meanwhile are gone from the storage.
  for (const Part& was : old) {
    const auto now = std::find_if(storage->parts().begin(), storage->parts().end(),
                                  [&](const Part& part) { return part.segment == was.segment; });
    std::uint32_t next = first;
    for (std::uint32_t row = 0; row < was.segment->size(); ++row) {
      if (was.removed && was.removed->removed(row)) continue;
      const bool gone = now == storage->parts().end() || (now->removed && now->removed->removed(row));
      if (gone) removed.push_back(next);
      ++next;
    }
    first = next;
  }
  Part one{std::move(segment), nullptr};
  if (!removed.empty()) one.removed = Tombstones::with(nullptr, *one.segment, removed);
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(std::min(place, parts.size())), std::move(one));
  drop_empty(parts, kind_);
  publish(std::make_shared<const Storage>(std::move(parts), storage->version()), false);
}

std::size_t LiveStorage::read_bytes(bool removes) const {
  const auto storage = current();
  std::size_t merged = 0;
  std::size_t texts = 0;
  for (const Part& part : storage->parts()) {
    if (part.segment->size() <= kInlineRows) merged += part.segment->memory_bytes();
    texts += part.segment->parts().texts.text_bytes();
  }
  return std::max(merged, removes ? texts : 0);
}

std::size_t LiveStorage::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = current_.storage->memory_bytes();
  std::set<const Segment*> known;
  for (const Part& part : current_.storage->parts()) known.insert(part.segment.get());
  for (const Version& version : kept_) {
    for (const Part& part : version.storage->parts()) {
      if (known.insert(part.segment.get()).second) bytes += part.segment->memory_bytes();
      bytes += part.removed ? part.removed->memory_bytes() : 0;
    }
  }
  return bytes;
}

}  // namespace lorekeep::store
