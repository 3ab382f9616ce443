// Mends the checksums of section files: a forger's mutation passes them. Reads files from stdin, each as a u32 length and its bytes, and
// writes each back likewise.
#include <cstdint>
#include <cstdio>
#include <span>

#include "fuzz_driver.h"

int main() {
  std::uint32_t size;
  lorekeep::test::Bytes file;
  while (std::fread(&size, sizeof(size), 1, stdin) == 1) {
    file.resize(size);
    if (std::fread(file.data(), 1, size, stdin) != size) return 1;
    lorekeep::test::repair_section_file(file);
    std::fwrite(&size, sizeof(size), 1, stdout);
    std::fwrite(file.data(), 1, size, stdout);
    std::fflush(stdout);
  }
}
