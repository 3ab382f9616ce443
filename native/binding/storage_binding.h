#pragma once

#include <napi.h>

#include <vector>

#include "binding/handle.h"
#include "binding/storage_request.h"
#include "store/live_storage.h"

namespace lorekeep::binding {

/// Returns the segment of a storage that has no changes. Throws Error(kUnsupported) for another.
const store::Segment& one_segment(const store::Storage& storage);

class StorageBinding final : public Handle<StorageBinding, store::LiveStorage> {
 public:
  static constexpr const char* kName = "Storage";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x07};
  static Members members();
  using Handle::Handle;

  /// Returns the newest version, for one call.
  std::shared_ptr<const store::Storage> pinned() const { return use()->current(); }

 private:
  Exported search, search_now, highlight, report_recall, compile_filter, document_frequency;
  // In storage_records.cc:
  Exported find, matching, records, rows, distinct, indexes, dimension, tokenizer, fields;
  // In storage_changes.cc:
  Exported update, apply_logged, adopt, set_time, forget, forget_former, merge, merging, pin, release, versions, keep,
      size, version;

  std::shared_ptr<store::StorageTimes> times_ = std::make_shared<store::StorageTimes>();
};

}  // namespace lorekeep::binding
