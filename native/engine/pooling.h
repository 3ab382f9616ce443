#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lorekeep::engine {

/// How the vectors of a text's tokens are combined. Values as in the GGUF key `<architecture>.pooling_type`. kRank: the
/// classification head of a reranker, which gives scores and no embedding.
enum class Pooling : std::uint32_t { kMean = 1, kCls = 2, kLast = 3, kRank = 4 };

constexpr std::string_view pooling_name(Pooling pooling) noexcept {
  switch (pooling) {
    case Pooling::kMean: return "mean";
    case Pooling::kCls: return "cls";
    case Pooling::kLast: return "last";
    case Pooling::kRank: return "rank";
  }
  return "mean";
}

/// Parses the name of a pooling that gives embeddings: "mean", "cls" or "last"; nullopt for any other name.
constexpr std::optional<Pooling> parse_pooling(std::string_view name) noexcept {
  for (Pooling pooling : {Pooling::kMean, Pooling::kCls, Pooling::kLast}) {
    if (name == pooling_name(pooling)) return pooling;
  }
  return std::nullopt;
}

}  // namespace lorekeep::engine
