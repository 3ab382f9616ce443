#pragma once

namespace lorekeep::encoder {

/// Returns whether this process may use the AMX tiles for bf16: the processor has them, the operating system saves them
/// and grants them on request (required on Linux: Documentation/arch/x86/xstate.rst), and a trial product was right.
/// The trial takes a millisecond in a forked child, so that a machine with broken tiles crashes only the child. False
/// on other systems. Determined once per process; thread-safe.
bool amx_permitted() noexcept;

}  // namespace lorekeep::encoder
