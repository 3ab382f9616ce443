// Results of searches as numbers (layout.gen.h). A search on the JavaScript thread writes them into memory that
// lib/result-numbers.ts lends.
#pragma once

#include <napi.h>

#include <cstddef>
#include <span>

#include "core/top_k.h"
#include "store/search_cost.h"

namespace lorekeep::binding {

/// The lent memory. Throws Error(kInvalidArgument) when it holds fewer than `least` numbers.
std::span<double> result_argument(const Napi::Value& value, std::size_t least);

/// Writes the time since `begin` as the `held` that every result begins with.
void write_held(std::span<double> numbers, store::SearchClock::time_point begin) noexcept;

/// Writes hits of an index from `next` on; returns the end.
double* write_hits(std::span<const Scored> hits, double* next) noexcept;

}  // namespace lorekeep::binding
