#pragma once

#include <cstddef>

namespace lorekeep {

/// Returns how many threads, at most `most`, the system lets the process start, by starting them: limits of users and
/// of containers can be seen in no other way. For libraries that end the process if a thread is refused.
std::size_t startable_threads(std::size_t most);

}  // namespace lorekeep
