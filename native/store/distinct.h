// Drops records that nearly repeat an earlier one of a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/threads/cancel_token.h"
#include "store/storage.h"

namespace lorekeep::store {

/// Returns the ascending positions in `ordinals` of at most `most` records, each farther than `distance` (cosine) from
/// every record kept before it. Preconditions: the storage has vectors; ordinals are below its size. Throws
/// Error(kCancelled). Grain of cancellation: one record.
std::vector<std::uint32_t> distinct(const Storage& storage, std::span<const std::uint32_t> ordinals, float distance,
                                    std::size_t most, const CancelToken* cancel = nullptr);

}  // namespace lorekeep::store
