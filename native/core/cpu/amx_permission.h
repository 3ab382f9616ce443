#pragma once

namespace lorekeep {

/// Returns whether this process may use the AMX tiles: the operating system grants them on request (required on Linux:
/// Documentation/arch/x86/xstate.rst), and `product_is_right` returned true. It is tried first in a forked child,
/// within seconds, so that a machine with broken tiles crashes only the child; it must neither allocate memory nor take
/// a lock. The caller has checked that the processor has the instructions, and keeps the result: each call takes a
/// millisecond. Thread-safe. False on other systems than Linux on x86-64.
bool amx_permitted(bool (*product_is_right)() noexcept) noexcept;

}  // namespace lorekeep
