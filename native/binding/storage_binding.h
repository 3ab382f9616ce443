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
  static Napi::Function define(Napi::Env env);
  using Handle::Handle;

 private:
  Napi::Value search(const Napi::CallbackInfo& info);
  Napi::Value search_now(const Napi::CallbackInfo& info);
  Napi::Value highlight(const Napi::CallbackInfo& info);
  Napi::Value report_recall(const Napi::CallbackInfo& info);
  Napi::Value compile_filter(const Napi::CallbackInfo& info);
  Napi::Value document_frequency(const Napi::CallbackInfo& info);
  // In storage_records.cc:
  Napi::Value find(const Napi::CallbackInfo& info);
  Napi::Value matching(const Napi::CallbackInfo& info);
  Napi::Value records(const Napi::CallbackInfo& info);
  Napi::Value rows(const Napi::CallbackInfo& info);
  Napi::Value distinct(const Napi::CallbackInfo& info);
  Napi::Value indexes(const Napi::CallbackInfo& info);
  Napi::Value dimension(const Napi::CallbackInfo& info);
  Napi::Value tokenizer(const Napi::CallbackInfo& info);
  Napi::Value fields(const Napi::CallbackInfo& info);

  std::shared_ptr<store::StorageTimes> times_ = std::make_shared<store::StorageTimes>();
};

/// buildStorage(ids, texts, rows, dimension, metadata, options, cancel, progress)
Napi::Value build_storage(const Napi::CallbackInfo& info);
/// assembleStorage(records, vectors, textIndex, cancel): moves the records into the storage.
Napi::Value assemble_storage(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
