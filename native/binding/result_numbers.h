// Results of searches as numbers (layout.gen.h). A search on the JavaScript thread writes them into memory provided by
// lib/search/result-numbers.ts.
#pragma once

#include <napi.h>

#include <cstddef>
#include <span>

#include "core/values/top_k.h"
#include "store/search_cost.h"

namespace lorekeep::binding {

/// Returns the provided memory. Throws Error(kInvalidArgument) if it has room for fewer than `least` numbers.
std::span<double> result_argument(const Napi::Value& value, std::size_t least);

/// Writes the time since `begin` to `held`, the first number of every result.
void write_held(std::span<double> numbers, store::SearchClock::time_point begin) noexcept;

/// Writes hits of an index from `next` on and returns the end.
double* write_hits(std::span<const Scored> hits, double* next) noexcept;

}  // namespace lorekeep::binding
