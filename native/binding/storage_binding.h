#pragma once

#include <napi.h>

#include <vector>

#include "binding/handle.h"
#include "binding/storage_request.h"
#include "store/storage.h"

namespace lorekeep::binding {

class StorageBinding final : public Handle<StorageBinding, const store::Storage> {
 public:
  static constexpr const char* kName = "Storage";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x07};
  static Members members();
  using Handle::Handle;

 private:
  Exported search, search_now, highlight, report_recall, compile_filter, document_frequency;
  // In storage_records.cc:
  Exported find, matching, records, rows, distinct, indexes, dimension, tokenizer, fields;

  std::shared_ptr<store::StorageTimes> times_ = std::make_shared<store::StorageTimes>();
};

}  // namespace lorekeep::binding
