// Converts JSON values between JavaScript and the filter module. Integers stay exact: a BigInt, or a number without a
// fraction, becomes an int64; an int64 beyond 2^53 becomes a BigInt, any other a number.
#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "filter/schema.h"
#include "filter/value.h"

namespace lorekeep::binding {

/// JavaScript numbers cannot represent all larger integers.
inline constexpr std::int64_t kMaxExactInteger = (std::int64_t{1} << 53) - 1;

/// Throws Error(kInvalidArgument) for values that are not JSON (functions, symbols, cycles, nesting deeper than 256),
/// and for arrays of more than `most_elements`. `name` is the value's name in errors.
filter::Value to_value(const Napi::Value& value, const char* name,
                       std::size_t most_elements = std::numeric_limits<std::size_t>::max());
/// Converts UTF-8 to a string. Copies plain ASCII, which most texts are, without decoding.
Napi::String to_js_text(Napi::Env env, std::string_view text);
Napi::Value to_js_value(Napi::Env env, const filter::FieldValue& value);
Napi::Int32Array to_js_tokens(Napi::Env env, std::span<const std::int32_t> tokens);

}  // namespace lorekeep::binding
