#pragma once

#include <napi.h>

#include "binding/handle.h"
#include "store/records_reader.h"

namespace lorekeep::binding {

/// The records of a file in native memory. Their texts reach JavaScript only as hits.
class RecordsBinding final : public Handle<RecordsBinding, store::Records> {
 public:
  static constexpr const char* kName = "Records";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x0a};
  static Napi::Function define(Napi::Env env);
  using Handle::Handle;

 private:
  Napi::Value id(const Napi::CallbackInfo& info);
  Napi::Value fingerprint(const Napi::CallbackInfo& info);
};

/// readRecords(path, fields, cancel)
Napi::Value read_records(const Napi::CallbackInfo& info);
/// openIndexedRecords(indexPath, recordsPath, fields, cancel): the records, or why the records file must be read
Napi::Value open_indexed_records(const Napi::CallbackInfo& info);
/// indexRecords(records, tokenizer, threads, cancel)
Napi::Value index_records(const Napi::CallbackInfo& info);

}  // namespace lorekeep::binding
