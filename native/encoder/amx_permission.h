#pragma once

namespace lorekeep::encoder {

/// Whether this process may use the AMX tiles for bf16: the processor has them, the operating system saves them and
/// grants them when asked (Linux wants that: Documentation/arch/x86/xstate.rst), and a product was right. That product
/// is computed in a forked child, which lasts a millisecond, so that a machine that promises tiles and has none costs
/// a child and not the process. False on other systems. Asks once in a process's life; thread-safe.
bool amx_permitted() noexcept;

}  // namespace lorekeep::encoder
