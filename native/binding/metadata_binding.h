#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <vector>

#include "binding/handle.h"
#include "filter/columns_builder.h"
#include "filter/predicate.h"
#include "store/prepared_filter.h"

namespace lorekeep::binding {

/// `new MetadataBuffer(fields)`, or of a storage for its fields: the metadata of records, filled in slices like the
/// other buffers.
class MetadataBufferBinding final : public ExportedClass<MetadataBufferBinding> {
 public:
  static constexpr const char* kName = "MetadataBuffer";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x08};
  static Members members();
  explicit MetadataBufferBinding(const Napi::CallbackInfo& info);

  /// Moves the builder out; later calls fail.
  std::shared_ptr<filter::ColumnsBuilder> take();

 private:
  ExportedProcedure append;

  std::shared_ptr<const filter::Schema> schema_;
  std::shared_ptr<filter::ColumnsBuilder> builder_;
};

/// A filter compiled for one storage's fields.
class FilterBinding final : public Handle<FilterBinding, store::CompiledFilter> {
 public:
  static constexpr const char* kName = "Filter";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x09};
  static Members members();
  using Handle::Handle;

  std::shared_ptr<store::CompiledFilter> compiled() const { return use(); }

 private:
  Exported variables;
};

/// Reads undefined or an object of values by name.
std::vector<filter::Variable> variables_argument(const Napi::Value& value);

}  // namespace lorekeep::binding
