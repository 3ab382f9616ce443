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
  static Members members();
  using Handle::Handle;

 private:
  Exported id, fingerprint, identity;
};

}  // namespace lorekeep::binding
