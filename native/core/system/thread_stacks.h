#pragma once

namespace lorekeep {

/// Gives threads that the process starts from now on a stack of 8 MiB where the C library gives them less by itself and
/// can be told: musl, 128 KiB. glibc takes the limit of the main thread's stack, 8 MiB on most systems. Parsers of
/// templates and grammars recurse.
void enlarge_thread_stacks();

}  // namespace lorekeep
