// The numbers of a result, which lib/result-numbers.ts lends to a search on the JavaScript thread.
#pragma once

#include <napi.h>

#include <cstddef>
#include <span>

#include "core/top_k.h"

namespace lorekeep::binding {

/// Where the result goes. Throws Error(kInvalidArgument) when there is room for fewer than `least` numbers.
std::span<double> result_argument(const Napi::Value& value, std::size_t least);

/// An ordinal and a score or distance per hit, from `next` on.
void write_pairs(std::span<const Scored> hits, double* next) noexcept;

}  // namespace lorekeep::binding
