// JSON values between JavaScript and the filter module. Integers are exact on both ways: a BigInt, or a number without
// a fraction, becomes an int64; an int64 beyond 2^53 comes back as a BigInt, any other as a number.
#pragma once

#include <napi.h>

#include <string_view>

#include "filter/schema.h"
#include "filter/value.h"

namespace lorekeep::binding {

/// Beyond it, JavaScript numbers skip integers.
inline constexpr std::int64_t kMostExactInteger = (std::int64_t{1} << 53) - 1;

/// Throws Error(kInvalidArgument) for what JSON cannot hold (functions, symbols, cycles and anything nested deeper than
/// 256), `name` being what errors call the value.
filter::Value to_value(const Napi::Value& value, const char* name);
/// A string of UTF-8. Plain ASCII, which most texts are, is copied without being decoded.
Napi::String to_js_text(Napi::Env env, std::string_view text);
Napi::Value to_js_value(Napi::Env env, const filter::FieldValue& value);

}  // namespace lorekeep::binding
