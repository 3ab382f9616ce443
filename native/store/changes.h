// One batch of changes of a storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/values/text_arena.h"
#include "filter/columns.h"
#include "text/text_index.h"

namespace lorekeep::store {

struct Changes {
  /// Records to add, then records that replace others.
  TextArena ids;
  TextArena texts;
  std::vector<float> rows;                          // row-major embeddings, one per record
  std::shared_ptr<const filter::Columns> metadata;  // null: the storage has no fields
  std::shared_ptr<const text::TextIndex> words;     // of the texts; null: it is made
  std::size_t added = 0;                            // the first records; the others replace
  std::vector<std::string> removed;                 // ids
  bool upsert = false;                              // ids of records may exist or not
  std::optional<std::uint64_t> if_version;          // refused for another version

  bool empty() const noexcept { return ids.size() == 0 && removed.empty(); }
};

struct Changed {
  std::uint64_t version = 0;
  std::size_t added = 0;
  std::size_t replaced = 0;
  std::size_t removed = 0;
  std::size_t size = 0;  // records afterwards
};

}  // namespace lorekeep::store
