// Text indexes over string fields of the metadata, for boosts. Made when first needed and kept.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/threads/work.h"
#include "filter/columns.h"
#include "text/text_index.h"

namespace lorekeep::store {

class FieldTexts {
 public:
  /// Returns the index of the field's texts; records without the field have an empty text. Throws
  /// Error(kInvalidArgument) naming `lexical.boosts` for a field that is unknown or not a string; kCancelled.
  std::shared_ptr<const text::TextIndex> index(const filter::Columns* metadata, const std::string& field,
                                               text::Tokenizer tokenizer, const Work& work);
  /// As text::TextIndex::wipe() of all indexes so far.
  void wipe() const noexcept;
  /// Bytes of all indexes so far.
  std::size_t memory_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const text::TextIndex>> indexes_;
};

/// The text of a string field of a record; empty without a value.
std::string_view field_text(const filter::Columns& metadata, std::size_t field, std::size_t record) noexcept;

}  // namespace lorekeep::store
