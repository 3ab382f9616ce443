// Containers for texts in UTF-8 and for rows of numbers. JavaScript fills them in slices, so that passing many
// megabytes never blocks the event loop. A call takes the content and leaves the container empty.
#pragma once

#include <napi.h>

#include <string_view>
#include <utility>
#include <vector>

#include "binding/handle.h"
#include "core/values/text_arena.h"

namespace lorekeep::binding {

class TextArenaBinding final : public ExportedClass<TextArenaBinding> {
 public:
  static constexpr const char* kName = "TextArena";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x02};
  static Members members();
  using ExportedClass::ExportedClass;

  TextArena take() noexcept { return std::exchange(arena_, {}); }

 private:
  ExportedProcedure append;
  ExportedProcedure reserve;
  Exported size;

  TextArena arena_;
  std::string scratch_;
};

class RowBufferBinding final : public ExportedClass<RowBufferBinding> {
 public:
  static constexpr const char* kName = "RowBuffer";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x03};
  static Members members();
  explicit RowBufferBinding(const Napi::CallbackInfo& info);

  std::vector<float> take() noexcept { return std::exchange(numbers_, {}); }

 private:
  ExportedProcedure append;
  Exported size;

  std::vector<float> numbers_;
};

}  // namespace lorekeep::binding
