// How the hits of a storage search cross: their numbers in one Float64Array and what is not a number in one array,
// because making JavaScript objects property by property from here takes several µs a hit. lib/storage-hits.ts makes
// them.
#pragma once

#include <napi.h>

#include <cstddef>
#include <span>

#include "binding/short_search.h"
#include "store/storage.h"

namespace lorekeep::binding {

/// Numbers that the result of a search with this many hits takes at most.
std::size_t result_numbers(const store::Storage& storage, std::size_t hits) noexcept;

/// The first number: how long a search held the JavaScript thread, in ns.
void write_held(std::span<double> numbers, SearchClock::duration held) noexcept;

/// Writes the other numbers into `numbers`, which has room for them, and gives the rest: of each hit its id, its text,
/// and those values of its fields that are not in the numbers.
Napi::Array flatten(Napi::Env env, const store::Storage& storage, const store::SearchResult& found,
                    std::span<double> numbers);

}  // namespace lorekeep::binding
