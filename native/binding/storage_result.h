// The result of a storage search for JavaScript: numbers in one Float64Array (layout.gen.h), everything else in one
// array. Creating objects property by property here takes several µs per hit, so lib/search/storage-hits.ts creates
// them.
#pragma once

#include <napi.h>

#include <cstddef>
#include <memory>
#include <span>

#include "store/storage.h"

namespace lorekeep::binding {

/// Returns the most numbers in the result of a search with this many hits.
std::size_t result_numbers(const store::Storage& storage, std::size_t hits) noexcept;

/// Returns whether the texts of the hits are short enough to be converted at once.
bool converts_at_once(const store::Storage& storage, const store::SearchResult& found);

/// Writes all numbers except `held`, for which it leaves room. Returns the rest: the id, the text and the non-numeric
/// fields of each hit.
Napi::Array flatten(Napi::Env env, const store::Storage& storage, const store::SearchResult& found,
                    std::span<double> numbers);

/// Returns [numbers, readHits]. Only the head of the numbers is written: readHits (NativeHitReader in
/// lib/boundary/native.ts) converts the hits in parts, a long text alone, so that a long result does not hold the event
/// loop.
Napi::Value readable_result(Napi::Env env, std::shared_ptr<const store::Storage> storage, store::SearchResult&& found);

}  // namespace lorekeep::binding
