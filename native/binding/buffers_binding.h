// The two containers that JavaScript fills in slices, so that handing over many megabytes never holds the event loop:
// texts as UTF-8, and rows of numbers. A call takes the content and leaves the container empty.
#pragma once

#include <napi.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/text_arena.h"

namespace lorekeep::binding {

class TextArenaBinding final : public Napi::ObjectWrap<TextArenaBinding> {
 public:
  static constexpr const char* kName = "TextArena";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x02};
  static Napi::Function define(Napi::Env env);
  explicit TextArenaBinding(const Napi::CallbackInfo& info);

  TextArena take() noexcept { return std::exchange(arena_, {}); }

 private:
  void append(const Napi::CallbackInfo& info);
  Napi::Value size(const Napi::CallbackInfo& info);

  TextArena arena_;
  std::string scratch_;
};

class RowBufferBinding final : public Napi::ObjectWrap<RowBufferBinding> {
 public:
  static constexpr const char* kName = "RowBuffer";
  static constexpr napi_type_tag kTag = {0x6c6f72656b656570, 0x03};
  static Napi::Function define(Napi::Env env);
  explicit RowBufferBinding(const Napi::CallbackInfo& info);

  std::vector<float> take() noexcept { return std::exchange(numbers_, {}); }

 private:
  void append(const Napi::CallbackInfo& info);
  Napi::Value size(const Napi::CallbackInfo& info);

  std::vector<float> numbers_;
};

}  // namespace lorekeep::binding
