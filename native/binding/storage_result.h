// The result of a storage search as it crosses: numbers in one Float64Array (layout.gen.h), everything else in one
// array. Making JavaScript objects property by property takes several µs a hit; lib/storage-hits.ts makes them instead.
#pragma once

#include <napi.h>

#include <cstddef>
#include <span>

#include "store/search_cost.h"
#include "store/storage.h"

namespace lorekeep::binding {

/// The most numbers in the result of a search with this many hits.
std::size_t result_numbers(const store::Storage& storage, std::size_t hits) noexcept;

/// Writes all numbers but `held`, for which there is room, and returns the rest: of each hit its id, its text, and the
/// values of its fields that are not numbers.
Napi::Array flatten(Napi::Env env, const store::Storage& storage, const store::SearchResult& found,
                    std::span<double> numbers);

}  // namespace lorekeep::binding
