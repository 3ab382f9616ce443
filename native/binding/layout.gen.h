// Written by scripts/generate-layouts.mjs. Positions in the arrays that cross to and from TypeScript.
#pragma once

#include <cstddef>

namespace lorekeep::binding::layout {

/// Search modes by number.
namespace search_mode {
enum : std::size_t { kDense, kLexical, kHybrid, kNumbers };
}  // namespace search_mode

/// Filters of a measurement of recall by number.
namespace tried_filter {
enum : std::size_t { kNone, kRandom, kNear, kFar, kNumbers };
}  // namespace tried_filter

/// Fusions of a hybrid search by number.
namespace fusion_method {
enum : std::size_t { kRrf, kScores, kNumbers };
}  // namespace fusion_method

/// Search paths by number.
namespace search_path {
enum : std::size_t { kExact, kGraph, kCells, kNumbers };
}  // namespace search_path

/// The numbers of a storage search. threshold and minScore are NaN for none; ef and candidates are
/// 0 for the default. scoreWeight and adapt (0 or 1) are of the fusion by scores.
namespace storage_request {
enum : std::size_t { kMode, kTopK, kEf, kThreshold, kRrfK, kDenseWeight, kLexicalWeight, kCandidates, kFusion, kScoreWeight, kAdapt, kMinScore, kNumbers };
}  // namespace storage_request

/// The head of a storage search result: ns that the search held this thread, hits, then the plan.
/// scoreWeight is NaN unless the legs were fused by scores; the times are in ms. Of each hit a
/// StorageHit follows, and one number per field.
namespace storage_result {
enum : std::size_t { kHeld, kHits, kDense, kPath, kMatched, kVisited, kExact, kLexical, kTokens, kTerms, kScored, kScoreWeight, kFilterMs, kDenseMs, kLexicalMs, kFusionMs, kNumbers };
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
enum : std::size_t { kFilter, kShare, kRecall, kEnough, kEf, kNumbers };
}  // namespace recall_cell

/// A hit of a vector or text index. value: distance or score.
namespace index_hit {
enum : std::size_t { kOrdinal, kValue, kNumbers };
}  // namespace index_hit

}  // namespace lorekeep::binding::layout
