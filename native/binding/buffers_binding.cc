#include "binding/buffers_binding.h"

#include <utility>

#include "binding/arguments.h"
#include "binding/error_translator.h"

namespace lorekeep::binding {

TextArenaBinding::Members TextArenaBinding::members() {
  return {
      method<&TextArenaBinding::append>("append"),
      method<&TextArenaBinding::reserve>("reserve"),
      getter<&TextArenaBinding::size>("size"),
  };
}

void TextArenaBinding::reserve(const Napi::CallbackInfo& info) {
  arena_.reserve(integer_argument(info[0], "bytes", 0, std::uint64_t{1} << 40));
}

void TextArenaBinding::append(const Napi::CallbackInfo& info) {
  if (!info[0].IsArray()) fail(Code::kInvalidArgument, "texts: an array of strings is expected");
  const auto texts = info[0].As<Napi::Array>();
  const auto begin = static_cast<std::uint32_t>(integer_argument(info[1], "begin", 0, texts.Length()));
  const auto end = static_cast<std::uint32_t>(integer_argument(info[2], "end", begin, texts.Length()));
  for (std::uint32_t i = begin; i < end; ++i) {
    Napi::HandleScope scope(info.Env());
    const Napi::Value text = texts[i];
    std::size_t bytes = 0;
    if (napi_get_value_string_utf8(info.Env(), text, nullptr, 0, &bytes) != napi_ok) {
      fail(Code::kInvalidArgument, "texts[" + std::to_string(i) + "]: a string is expected");
    }
    scratch_.resize(bytes + 1);  // room for the terminator
    napi_get_value_string_utf8(info.Env(), text, scratch_.data(), scratch_.size(), &bytes);
    arena_.append(std::string_view(scratch_.data(), bytes));
  }
}

Napi::Value TextArenaBinding::size(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(arena_.size()));
}

RowBufferBinding::Members RowBufferBinding::members() {
  return {
      method<&RowBufferBinding::append>("append"),
      getter<&RowBufferBinding::size>("size"),
  };
}

RowBufferBinding::RowBufferBinding(const Napi::CallbackInfo& info) : ExportedClass(info) {
  guarded(info.Env(), [&] {
    if (!info[0].IsUndefined()) numbers_.reserve(integer_argument(info[0], "capacity", 0, std::uint64_t{1} << 40));
  });
}

void RowBufferBinding::append(const Napi::CallbackInfo& info) {
  const Napi::Value value = info[0];
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
    fail(Code::kInvalidArgument, "vectors: a Float32Array is expected");
  }
  const auto rows = value.As<Napi::Float32Array>();
  numbers_.insert(numbers_.end(), rows.Data(), rows.Data() + rows.ElementLength());
}

Napi::Value RowBufferBinding::size(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(numbers_.size()));
}

}  // namespace lorekeep::binding
