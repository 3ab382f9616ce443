#pragma once

#include <cstddef>
#include <string>

#include "core/cancel_token.h"
#include "core/thread_pool.h"
#include "text/index_data.h"

namespace lorekeep::text {

/// Proves that untrusted index data are what build_index() would have made of some documents: every size, order, count,
/// length, impact and posting, so that a search needs no checks and cannot be misled by a file that contradicts
/// itself. Throws Error(kCorrupt) naming `name` and the place. Reads each byte once; allocates 8 bytes per document for
/// each of at most 4 threads. `pool` may be null. Grain of cancellation: 1,024 terms.
void check_index(const IndexData& data, const std::string& name, ThreadPool* pool, std::size_t workers,
                 const CancelToken* cancel);

}  // namespace lorekeep::text
