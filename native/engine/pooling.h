#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lorekeep::engine {

/// How the vectors of a text's tokens are combined. Values as in the GGUF key `<architecture>.pooling_type`.
enum class Pooling : std::uint32_t { kMean = 1, kCls = 2, kLast = 3 };

constexpr std::string_view pooling_name(Pooling pooling) noexcept {
  switch (pooling) {
    case Pooling::kMean: return "mean";
    case Pooling::kCls: return "cls";
    case Pooling::kLast: return "last";
  }
  return "mean";
}

/// Parses "mean", "cls" or "last"; nullopt for any other name.
constexpr std::optional<Pooling> parse_pooling(std::string_view name) noexcept {
  for (Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLast}) {
    if (name == pooling_name(pooling)) return pooling;
  }
  return std::nullopt;
}

}  // namespace lorekeep::engine
