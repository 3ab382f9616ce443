#include "store/segment.h"

#include <string>

#include "core/values/error.h"
#include "filter/value.h"

namespace lorekeep::store {
namespace {

[[noreturn]] void refuse(const std::string& message, Details details = {}) {
  fail(Code::kInvalidArgument, message, std::move(details));
}

void check_size(const char* part, std::size_t size, std::size_t records) {
  if (size == records) return;
  refuse(std::string(part) + ": " + std::to_string(size) + " for " + std::to_string(records) + " records");
}

/// Checks that ids are unique and not empty.
void check_ids(const TextArena& ids) {
  TextTable entered;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const std::string_view id = ids[row];
    if (id.empty()) refuse("ids: record " + std::to_string(row) + " has an empty id");
    const auto first = entered.enter(ids, row);
    if (!first) continue;
    refuse("ids: records " + std::to_string(*first) + " and " + std::to_string(row) + " have the same id " +
               filter::quoted(id),
           {{"id", std::string(id)},
            {"first", static_cast<std::int64_t>(*first)},
            {"second", static_cast<std::int64_t>(row)}});
  }
}

}  // namespace

Segment::Segment(StorageParts parts) : parts_(std::move(parts)) {
  const std::size_t records = parts_.ids.size();
  if (records > vector::kMaxRows) refuse("a storage holds at most " + std::to_string(vector::kMaxRows) + " records");
  check_size("texts", parts_.texts.size(), records);
  if (parts_.vectors) check_size("vectors", parts_.vectors->size(), records);
  if (parts_.text_index) check_size("text index", parts_.text_index->documents(), records);
  if (parts_.metadata) check_size("metadata", parts_.metadata->size(), records);
  if (!parts_.ids_checked) check_ids(parts_.ids);
}

Segment::~Segment() {
  if (!wipe_.load()) return;
  parts_.ids.wipe();
  parts_.texts.wipe();
  field_texts_.wipe();
  if (parts_.text_index.use_count() == 1) parts_.text_index->wipe();
  if (parts_.metadata.use_count() == 1) parts_.metadata->wipe();
  if (parts_.vectors.use_count() == 1) parts_.vectors->wipe();
}

std::optional<std::uint32_t> Segment::find(std::string_view id) const {
  std::call_once(ids_->once, [this] {
    for (std::size_t row = 0; row < size(); ++row) ids_->table.enter(parts_.ids, row);
  });
  const auto found = ids_->table.find(parts_.ids, id);
  if (!found) return std::nullopt;
  return static_cast<std::uint32_t>(*found);
}

void Segment::check_files() const {
  if (parts_.vectors) parts_.vectors->check_file();
  if (parts_.file) parts_.file->check_unchanged();
}

std::size_t Segment::memory_bytes() const noexcept {
  const std::size_t heap = heap_bytes();
  return parts_.vectors ? heap - parts_.vectors->heap_bytes() + parts_.vectors->memory_bytes() : heap;
}

std::size_t Segment::heap_bytes() const noexcept {
  std::size_t total = parts_.ids.memory_bytes() + parts_.texts.memory_bytes();
  if (parts_.vectors) total += parts_.vectors->heap_bytes();
  if (parts_.text_index) total += parts_.text_index->memory_bytes();
  if (parts_.metadata) total += parts_.metadata->memory_bytes();
  return total + field_texts_.memory_bytes();
}

}  // namespace lorekeep::store
