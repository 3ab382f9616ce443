// Runs a fuzz target in the normal test run: a bounded, deterministic stream of mutations of a corpus, for compilers
// without libFuzzer (with it, link the target's file alone with -fsanitize=fuzzer). While the target runs, no single
// allocation may exceed what the input's size justifies: a loader that trusts a size from the file ends the program.
//
// Include it in exactly one file of a program: it replaces the global operator new.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <random>
#include <vector>

#include "aligned_memory.h"
#include "core/values/checksum.h"
#include "harness.h"

/// The entry point that libFuzzer calls too. Returns 0; anything wrong ends the program.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lorekeep::test {

using Bytes = std::vector<std::uint8_t>;

/// Largest single allocation allowed now, in bytes.
inline std::atomic<std::size_t> allocation_limit{SIZE_MAX};

struct FuzzPlan {
  std::vector<Bytes> corpus;                // valid and hand-corrupted files; each is tried as it is first
  std::size_t rounds = 2000;                // mutated inputs
  std::function<void(Bytes&)> repair = {};  // mends checksums; applied to every other input
  std::size_t allocation_factor = 16;       // times the input's size,
  std::size_t allocation_base = 1 << 20;    // plus this: the largest allocation that an input justifies
};

namespace fuzz_detail {

inline void run_one(const FuzzPlan& plan, const Bytes& input) {
  allocation_limit = plan.allocation_base + plan.allocation_factor * input.size();
  LLVMFuzzerTestOneInput(input.data(), input.size());
  allocation_limit = SIZE_MAX;
}

inline void overwrite(Bytes& input, std::size_t at, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width && at + i < input.size(); ++i) {
    input[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

inline void mutate(Bytes& input, const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  static constexpr std::uint64_t kValues[] = {0,
                                              1,
                                              2,
                                              0x7f,
                                              0x80,
                                              0xff,
                                              0x100,
                                              0x7fff,
                                              0xffff,
                                              0x7fffffff,
                                              0x80000000,
                                              0xffffffff,
                                              0x100000000,
                                              0x7fffffffffffffff,
                                              0xffffffffffffffff};
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random() % bound); };
  // Headers decide more than contents: half of the places are in the first 512 bytes.
  const std::size_t at = below(random() % 2 == 0 ? std::min<std::size_t>(input.size(), 512) : input.size());
  switch (random() % 8) {
    case 0:
      if (!input.empty()) input[at] ^= static_cast<std::uint8_t>(1u << below(8));
      break;
    case 1: overwrite(input, at, random(), 1); break;
    case 2: overwrite(input, at, kValues[below(std::size(kValues))], 2); break;
    case 3: overwrite(input, at & ~std::size_t{3}, kValues[below(std::size(kValues))], 4); break;
    case 4: overwrite(input, at & ~std::size_t{7}, kValues[below(std::size(kValues))], 8); break;
    case 5: overwrite(input, at & ~std::size_t{3}, random() % (2 * input.size() + 1), 4); break;
    case 6: input.resize(below(input.size() + 1)); break;
    case 7: {
      const Bytes& other = corpus[below(corpus.size())];
      const std::size_t from = below(other.size());
      const std::size_t length = std::min(below(256), other.size() - from);
      if (at + length <= input.size())
        std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), length,
                    input.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    }
  }
}

}  // namespace fuzz_detail

/// Runs the target on the corpus, on every corpus file cut at many places, and on `rounds` mutations. A crash or a
/// sanitizer report ends the program: the seed was printed before, so that the run can be repeated.
inline void fuzz(const FuzzPlan& plan) {
  std::printf("    fuzz: %zu files, %zu rounds, LOREKEEP_TEST_SEED=%llu\n", plan.corpus.size(), plan.rounds, seed());
  std::fflush(stdout);
  std::mt19937_64 random(seed());
  for (const Bytes& file : plan.corpus) {
    fuzz_detail::run_one(plan, file);
    const std::size_t step = std::max<std::size_t>(1, file.size() / 48);
    for (std::size_t size = 0; size < file.size(); size += size < 128 ? 8 : step) {
      fuzz_detail::run_one(plan, Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
    }
  }
  for (std::size_t round = 0; round < plan.rounds; ++round) {
    Bytes input = plan.corpus[random() % plan.corpus.size()];
    for (std::size_t n = 1 + random() % 4; n > 0; --n) fuzz_detail::mutate(input, plan.corpus, random);
    if (plan.repair && round % 2 == 0) plan.repair(input);
    fuzz_detail::run_one(plan, input);
  }
}

/// Recomputes size and checksums of a section file (core/files/section_file.h) as far as its own numbers stay within
/// it.
inline void repair_section_file(Bytes& file) {
  constexpr std::size_t kHeader = 48;
  constexpr std::size_t kEntry = 32;
  if (file.size() < kHeader) return;
  const auto bytes = [&](std::size_t from, std::size_t size) {
    return std::as_bytes(std::span(file)).subspan(from, size);
  };
  const auto put = [&](std::size_t at, std::uint64_t value) { std::memcpy(file.data() + at, &value, sizeof(value)); };
  std::uint32_t sections;
  std::memcpy(&sections, file.data() + 12, sizeof(sections));
  put(16, file.size());
  if (sections <= (file.size() - kHeader) / kEntry) {
    for (std::size_t at = kHeader; at < kHeader + sections * kEntry; at += kEntry) {
      std::uint64_t offset;
      std::uint64_t size;
      std::memcpy(&offset, file.data() + at + 8, sizeof(offset));
      std::memcpy(&size, file.data() + at + 16, sizeof(size));
      if (offset > file.size() || size > file.size() - offset) continue;
      put(at + 24, checksum(bytes(static_cast<std::size_t>(offset), static_cast<std::size_t>(size))));
    }
    put(32, checksum(bytes(kHeader, sections * kEntry)));
  }
  put(40, checksum(bytes(0, 40)));
}

}  // namespace lorekeep::test

namespace lorekeep::test::fuzz_detail {

inline void* allocate(std::size_t size, std::size_t alignment) {
  if (size > allocation_limit.load(std::memory_order_relaxed)) {
    std::fprintf(stderr, "fuzz: an allocation of %zu bytes, more than the input justifies\n", size);
    std::abort();
  }
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  return alignment <= alignof(std::max_align_t) ? std::malloc(rounded) : aligned_memory(alignment, rounded);
}

inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace lorekeep::test::fuzz_detail

void* operator new(std::size_t size) {
  return lorekeep::test::fuzz_detail::allocate_or_throw(size, 1);
}
void* operator new[](std::size_t size) {
  return lorekeep::test::fuzz_detail::allocate_or_throw(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return lorekeep::test::fuzz_detail::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return lorekeep::test::fuzz_detail::allocate(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return lorekeep::test::fuzz_detail::allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return lorekeep::test::fuzz_detail::allocate(size, 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  lorekeep::test::free_aligned(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
