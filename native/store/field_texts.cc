#include "store/field_texts.h"

#include <variant>

#include "core/values/error.h"
#include "filter/nearest_name.h"
#include "filter/value.h"

namespace lorekeep::store {
namespace {

[[noreturn]] void refuse(const std::string& field, const std::string& reason, const std::string& nearest = {}) {
  std::string text = filter::quoted(field) + " " + reason;
  if (!nearest.empty()) text += "; did you mean " + filter::quoted(nearest) + "?";
  fail(Code::kInvalidArgument, "lexical.boosts: " + text, {{"field", "lexical.boosts"}, {"reason", text}});
}

}  // namespace

std::shared_ptr<const text::TextIndex> FieldTexts::index(const filter::Columns* metadata, const std::string& field,
                                                         text::Tokenizer tokenizer, const Work& work) {
  const auto position = metadata != nullptr ? metadata->schema().find(field) : std::nullopt;
  if (!position) {
    refuse(field, "is not a field of the records",
           metadata != nullptr ? filter::nearest_name(field, metadata->schema().names()) : "");
  }
  const filter::FieldType type = metadata->schema()[*position].type;
  if (type != filter::FieldType::kString) {
    refuse(field, "is a field of type " + std::string(filter::type_name(type)) + ", not string");
  }
  const std::lock_guard lock(mutex_);
  auto& index = indexes_[field];
  if (!index) {
    index = text::TextIndex::build(metadata->size(),
                                   [&](std::size_t record) { return field_text(*metadata, *position, record); },
                                   {tokenizer, work});
  }
  return index;
}

void FieldTexts::wipe() const noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [field, index] : indexes_) {
    if (index && index.use_count() == 1) index->wipe();
  }
}

std::size_t FieldTexts::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [field, index] : indexes_) bytes += index ? index->memory_bytes() : 0;
  return bytes;
}

std::string_view field_text(const filter::Columns& metadata, std::size_t field, std::size_t record) noexcept {
  const filter::Column& column = metadata[field];
  if (column.present && !column.present->test(record)) return {};
  const auto& texts = std::get<filter::StringColumn>(column.data);
  return texts.dictionary[texts.codes[record]];
}

}  // namespace lorekeep::store
