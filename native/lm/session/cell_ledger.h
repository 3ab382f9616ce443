// Counts the cells of a KV cache. A cell that several sequences share counts once. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace lorekeep::lm {

class CellLedger {
 public:
  explicit CellLedger(std::uint32_t capacity) : capacity_(capacity) {}

  /// Appends cells to a sequence.
  void extend(std::int32_t sequence, std::uint32_t cells);
  /// Lets an empty sequence share the first cells of another. Precondition: cells <= length(from).
  void share(std::int32_t from, std::int32_t to, std::uint32_t cells);
  /// Shortens a sequence. Its reservation stays.
  void truncate(std::int32_t sequence, std::uint32_t length);
  /// Forgets a sequence and its reservation.
  void release(std::int32_t sequence);
  /// Reserves cells, so that the sequence can grow to `length`. Replaces its earlier reservation.
  void reserve(std::int32_t sequence, std::uint32_t length);

  std::uint32_t length(std::int32_t sequence) const;
  std::uint32_t capacity() const noexcept { return capacity_; }
  /// Cells in use.
  std::uint32_t used() const noexcept { return used_; }
  /// Cells that are reserved, but not in use yet.
  std::uint32_t reserved() const;
  /// Cells that are neither in use nor reserved; 0 if more are reserved than there are.
  std::uint32_t available() const;

 private:
  // A run of cells with the same owners. The number of references is the number of owners.
  using Run = std::shared_ptr<std::uint32_t>;
  struct Sequence {
    std::vector<Run> runs;
    std::uint32_t length = 0;
    std::uint32_t reserved_length = 0;
  };

  void split(const Sequence& sequence, std::uint32_t at);
  void drop(std::vector<Run>& runs, std::size_t from);

  std::uint32_t capacity_;
  std::uint32_t used_ = 0;
  std::map<std::int32_t, Sequence> sequences_;
};

}  // namespace lorekeep::lm
