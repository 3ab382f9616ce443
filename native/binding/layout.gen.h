// Written by scripts/generate-layouts.mjs. Positions in the arrays that cross to and from TypeScript.
#pragma once

#include <cstddef>

namespace lorekeep::binding::layout {

// Number of enumerators.
inline constexpr std::size_t kSearchModes = 3;
inline constexpr std::size_t kTriedFilters = 4;
inline constexpr std::size_t kFusionMethods = 2;
inline constexpr std::size_t kSearchPaths = 3;
inline constexpr std::size_t kPlacements = 3;
inline constexpr std::size_t kRuntimes = 3;
inline constexpr std::size_t kKvCacheTypes = 2;
inline constexpr std::size_t kRoles = 3;
inline constexpr std::size_t kThinkingModes = 3;
inline constexpr std::size_t kConsumerClasses = 3;
inline constexpr std::size_t kGrammarMatches = 3;

/// The head of a storage search result: ns that the search held this thread, hits, then the plan.
/// scoreWeight is NaN unless the legs were fused by scores, feedback without feedback, floor
/// without a dense query or hits; the times are in ms. Of each hit a StorageHit follows, and one
/// number per field.
namespace storage_result {
enum : std::size_t { kHeld, kHits, kDense, kPath, kMatched, kVisited, kExact, kLexical, kTokens, kTerms, kScored, kScoreWeight, kFeedback, kFeedbackAdded, kFloor, kFilterMs, kDenseMs, kLexicalMs, kFusionMs, kVersion, kNumbers };
}  // namespace storage_result

/// The numbers of a hit of a storage search. NaN: absent.
namespace storage_hit {
enum : std::size_t { kOrdinal, kScore, kDistance, kBm25Score, kDenseRank, kLexicalRank, kDenseScore, kLexicalScore, kRelevance, kNumbers };
}  // namespace storage_hit

/// The head of a vector search result. Of each query a VectorQuery follows.
namespace vector_result {
enum : std::size_t { kHeld, kNumbers };
}  // namespace vector_result

/// The numbers of one query: its hits, then the plan. Of each hit an IndexHit follows.
namespace vector_query {
enum : std::size_t { kHits, kPath, kMatched, kVisited, kExact, kNumbers };
}  // namespace vector_query

/// The head of a text search result. Of each hit an IndexHit follows.
namespace text_result {
enum : std::size_t { kHeld, kHits, kScored, kNumbers };
}  // namespace text_result

/// One measurement of recall. ef: a width that suffices if the default does not; 0: none.
namespace recall_cell {
enum : std::size_t { kFilter, kShare, kRecall, kEf, kNumbers };
}  // namespace recall_cell

/// A hit of a vector or text index. value: distance or score.
namespace index_hit {
enum : std::size_t { kOrdinal, kValue, kNumbers };
}  // namespace index_hit

/// A part of the tree of prefixes in a KV cache; idleMs is in ms.
namespace prefix_part {
enum : std::size_t { kDepth, kTokens, kRunning, kKept, kPinned, kIdleMs, kNumbers };
}  // namespace prefix_part

/// Number of matches of a text, which follow; begin and end of its best part, in UTF-16 code units.
namespace text_highlights {
enum : std::size_t { kMatches, kBegin, kEnd, kNumbers };
}  // namespace text_highlights

/// A match in a text, in UTF-16 code units, and the number of the clause of the query.
namespace highlight {
enum : std::size_t { kBegin, kEnd, kClause, kNumbers };
}  // namespace highlight

}  // namespace lorekeep::binding::layout
