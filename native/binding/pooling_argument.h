#pragma once

#include <napi.h>

#include <optional>
#include <string>

#include "binding/arguments.h"
#include "core/values/error.h"
#include "engine/pooling.h"

namespace lorekeep::binding {

/// Reads "mean", "cls" or "last"; undefined: the file's pooling.
inline std::optional<engine::Pooling> pooling_argument(const Napi::Value& value) {
  if (value.IsUndefined()) return std::nullopt;
  const std::string name = string_argument(value, "pooling");
  const auto pooling = engine::parse_pooling(name);
  if (!pooling) fail(Code::kInvalidArgument, "pooling: mean, cls or last is expected, not " + name);
  return pooling;
}

}  // namespace lorekeep::binding
