#include "amx_emulator.h"
#if LOREKEEP_AMX
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "core/cpu/bf16.h"

namespace lorekeep::test {
namespace {

constexpr int kTiles = 8;

struct Tile {
  std::uint8_t bytes[kTileRowsOfAmx][kTileBytes];

  template <class T>
  T get(std::size_t row, std::size_t column) const {
    T value;
    std::memcpy(&value, bytes[row] + column * sizeof(T), sizeof(T));
    return value;
  }
  float bf16(std::size_t row, std::size_t column) const { return from_bf16(get<std::uint16_t>(row, column)); }
  template <class T>
  void add(std::size_t row, std::size_t column, T value) {
    value += get<T>(row, column);
    std::memcpy(bytes[row] + column * sizeof(T), &value, sizeof(T));
  }
};

TileConfig config;
Tile tiles[kTiles];
long count = 0;

[[noreturn]] void forbidden(const char* why) {
  constexpr char kWhere[] = "amx_emulator: ";
  [[maybe_unused]] auto written = write(STDERR_FILENO, kWhere, sizeof kWhere - 1);
  written = write(STDERR_FILENO, why, std::strlen(why));
  written = write(STDERR_FILENO, "\n", 1);
  _exit(1);
}

void need(bool condition, const char* why) {
  if (!condition) forbidden(why);
}

std::size_t rows_of(int tile) {
  need(config.palette == 1 && config.rows[tile] > 0, "a tile that is not configured");
  return config.rows[tile];
}

std::size_t bytes_of(int tile) {
  return config.row_bytes[tile];
}

void release() {
  config = TileConfig{};
  std::memset(tiles, 0, sizeof tiles);
}

void load_config(const std::uint8_t* from) {
  TileConfig wanted;
  std::memcpy(&wanted, from, sizeof wanted);
  release();
  if (wanted.palette == 0) return;
  need(wanted.palette == 1, "a palette that there is not");
  for (std::uint8_t value : wanted.reserved) need(value == 0, "a reserved byte of the configuration");
  for (int i = 0; i < kTiles; ++i) {
    need(wanted.rows[i] <= kTileRowsOfAmx && wanted.row_bytes[i] <= kTileBytes, "a tile that is too large");
    need((wanted.rows[i] == 0) == (wanted.row_bytes[i] == 0), "a tile of rows without bytes, or bytes without rows");
    need(wanted.unused_rows[i] == 0 && wanted.unused_row_bytes[i] == 0, "a ninth tile");
  }
  config = wanted;
}

// In C++, so that AddressSanitizer sees what a tile touches.
void load(int tile, const std::uint8_t* from, std::ptrdiff_t stride) {
  const std::size_t rows = rows_of(tile);
  std::memset(&tiles[tile], 0, sizeof(Tile));
  for (std::size_t i = 0; i < rows; ++i, from += stride) std::memcpy(tiles[tile].bytes[i], from, bytes_of(tile));
}

void store(int tile, std::uint8_t* to, std::ptrdiff_t stride) {
  const std::size_t rows = rows_of(tile);
  for (std::size_t i = 0; i < rows; ++i, to += stride) std::memcpy(to, tiles[tile].bytes[i], bytes_of(tile));
}

// Calls sum(row, column, groups), which adds the products of that many groups of four bytes.
template <class Sum>
void dot(int sums, int a, int b, const Sum& sum) {
  const std::size_t rows = rows_of(sums);
  const std::size_t columns = bytes_of(sums) / sizeof(float);
  const std::size_t groups = bytes_of(a) / sizeof(float);
  need(sums != a && sums != b && a != b, "a product of a tile with itself");
  need(rows_of(a) == rows && rows_of(b) == groups && bytes_of(b) == bytes_of(sums), "a product of unfit tiles");
  for (std::size_t m = 0; m < rows; ++m) {
    for (std::size_t n = 0; n < columns; ++n) tiles[sums].add(m, n, sum(m, n, groups));
  }
}

// TDPBF16PS: the even and the odd steps are summed apart, then added. Numbers too small for an f32 become zeros, which
// makes no difference to the tests.
void dot_bf16(int sums, int a, int b) {
  dot(sums, a, b, [a, b](std::size_t m, std::size_t n, std::size_t pairs) {
    float even = 0;
    float odd = 0;
    for (std::size_t k = 0; k < pairs; ++k) {
      even += tiles[a].bf16(m, 2 * k) * tiles[b].bf16(k, 2 * n);
      odd += tiles[a].bf16(m, 2 * k + 1) * tiles[b].bf16(k, 2 * n + 1);
    }
    return even + odd;
  });
}

// TDPBSSD.
void dot_bytes(int sums, int a, int b) {
  dot(sums, a, b, [a, b](std::size_t m, std::size_t n, std::size_t groups) {
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < 4 * groups; ++k)
      sum += tiles[a].get<std::int8_t>(m, k) * tiles[b].get<std::int8_t>(k / 4, 4 * n + k % 4);
    return sum;
  });
}

/// An instruction of three-byte VEX form: C4, two bytes of prefix, opcode, ModRM and what follows it.
class Instruction {
 public:
  Instruction(const std::uint8_t* code, const greg_t* registers) : code_(code), registers_(registers) {
    if (known()) decode_operand();
  }

  bool known() const { return code_[0] == 0xc4 && (code_[1] & 0x1f) == 2 && (opcode() == 0x49 || tile_operation()); }
  std::size_t length() const { return length_; }
  std::uint8_t opcode() const { return code_[3]; }
  int prefix() const { return code_[2] & 3; }  // 0: none, 1: 66, 2: F3, 3: F2
  bool in_memory() const { return modrm() >> 6 != 3; }
  int reg() const { return modrm() >> 3 & 7; }
  int rm() const { return modrm() & 7; }
  int second() const { return ~(code_[2] >> 3) & 7; }
  std::uint8_t* address() const { return reinterpret_cast<std::uint8_t*>(address_); }
  std::ptrdiff_t stride() const { return stride_; }

 private:
  bool tile_operation() const { return opcode() == 0x4b || opcode() == 0x5c || opcode() == 0x5e; }
  std::uint8_t modrm() const { return code_[4]; }

  std::intptr_t value(int number) const {
    // The order of the registers' numbers, in the names of <sys/ucontext.h>.
    static constexpr int kNames[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<std::intptr_t>(registers_[kNames[number]]);
  }

  void decode_operand() {
    length_ = 5;
    if (!in_memory()) return;
    const int mode = modrm() >> 6;
    const int high_base = (code_[1] & 0x20) == 0 ? 8 : 0;
    const int high_index = (code_[1] & 0x40) == 0 ? 8 : 0;
    bool has_base = true;
    int base = rm() + high_base;
    if (rm() == 4) {
      const std::uint8_t sib = code_[length_++];
      base = (sib & 7) + high_base;
      has_base = !((sib & 7) == 5 && mode == 0);
      const int index = (sib >> 3 & 7) + high_index;
      if (index != 4) stride_ = value(index) << (sib >> 6);
    }
    const bool relative = rm() == 5 && mode == 0;
    std::int32_t offset = 0;
    if (mode == 1) {
      offset = static_cast<std::int8_t>(code_[length_++]);
    } else if (mode == 2 || relative || !has_base) {
      std::memcpy(&offset, code_ + length_, sizeof offset);
      length_ += sizeof offset;
    }
    address_ = offset;
    if (relative) {
      address_ += reinterpret_cast<std::intptr_t>(code_) + static_cast<std::intptr_t>(length_);
    } else if (has_base) {
      address_ += value(base);
    }
  }

  const std::uint8_t* code_;
  const greg_t* registers_;
  std::size_t length_ = 0;
  std::intptr_t address_ = 0;
  std::ptrdiff_t stride_ = 0;
};

bool emulate(const Instruction& found) {
  const int kind = found.opcode() << 4 | (found.in_memory() ? 8 : 0) | found.prefix();
  switch (kind) {
    case 0x498: load_config(found.address() + found.stride()); return true;
    case 0x499: std::memcpy(found.address() + found.stride(), &config, sizeof config); return true;
    case 0x490: release(); return true;
    case 0x493:
      rows_of(found.reg());
      std::memset(&tiles[found.reg()], 0, sizeof(Tile));
      return true;
    case 0x4bb: load(found.reg(), found.address(), found.stride()); return true;
    case 0x4ba: store(found.reg(), found.address(), found.stride()); return true;
    case 0x5c2: dot_bf16(found.reg(), found.rm(), found.second()); return true;
    case 0x5e3: dot_bytes(found.reg(), found.rm(), found.second()); return true;
    default: return false;
  }
}

void on_unknown_instruction(int, siginfo_t*, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const Instruction found(reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]), registers);
  need(found.known() && emulate(found), "an instruction that it does not know");
  registers[REG_RIP] += static_cast<greg_t>(found.length());
  ++count;
}

}  // namespace

AmxEmulator::AmxEmulator(bool permitted) {
  release();
  struct sigaction action{};
  action.sa_sigaction = on_unknown_instruction;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, &before_);
  const long before = count;
  TileScope::current();
  usable_ = __builtin_cpu_supports("avx512f") != 0 && (permitted || count > before);
}

AmxEmulator::~AmxEmulator() {
  sigaction(SIGILL, &before_, nullptr);
}

long AmxEmulator::instructions() {
  return count;
}

}  // namespace lorekeep::test
#endif
