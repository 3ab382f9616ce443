/* bcryptprimitives.dll for Wine 8, which lacks it: programs in Go and Rust take random bytes from it. For tests alone. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG bytes);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T bytes) {
  const SIZE_T most = 1u << 30;
  while (bytes > 0) {
    const ULONG part = (ULONG)(bytes > most ? most : bytes);
    if (!SystemFunction036(to, part)) return FALSE;
    to += part;
    bytes -= part;
  }
  return TRUE;
}
