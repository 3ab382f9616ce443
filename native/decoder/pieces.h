// Divides products of matrices into tickets.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lorekeep::decoder {

/// Rows x outputs of one product, divided into pieces of a size that takes some 50 to 200 µs, and into several pieces
/// for each thread where that is possible.
class Pieces {
 public:
  Pieces() = default;
  Pieces(std::size_t rows, std::size_t outputs, std::size_t inputs, std::size_t threads) noexcept
      : rows_(rows), outputs_(outputs) {
    const std::size_t least = std::max(kMinInputBytes / std::max<std::size_t>(inputs, 1), kMinRows);
    row_step_ = std::clamp<std::size_t>(rows, 1, least);
    const std::size_t for_cost = kMaxProducts / (std::max<std::size_t>(inputs, 1) * (row_step_ + kRowsOfAStream));
    const std::size_t row_pieces = (rows + row_step_ - 1) / row_step_;
    const std::size_t wanted =
        std::max<std::size_t>(1, kPiecesPerThread * threads / std::max<std::size_t>(row_pieces, 1));
    const std::size_t for_threads = (outputs + wanted - 1) / wanted;
    const std::size_t most = std::max<std::size_t>(std::min(for_cost, for_threads) / kOutputs, 1);
    output_step_ = (rows > kRowsOfAStream ? balanced(most, row_pieces, threads) : most) * kOutputs;
  }

  std::size_t size() const noexcept { return count(rows_, row_step_) * count(outputs_, output_step_); }

  struct Piece {
    std::size_t row;
    std::size_t rows;
    std::size_t output;
    std::size_t outputs;
  };
  /// Pieces of the same rows follow each other, so that these stay in a cache.
  Piece at(std::size_t index) const noexcept {
    const std::size_t across = count(outputs_, output_step_);
    const std::size_t row = index / across * row_step_;
    const std::size_t output = index % across * output_step_;
    return {row, std::min(row_step_, rows_ - row), output, std::min(output_step_, outputs_ - output)};
  }

 private:
  static constexpr std::size_t kOutputs = 32;               // whole panels of the kernels
  static constexpr std::size_t kMinRows = 128;              // with half of them, unpacking costs a seventh of the speed
  static constexpr std::size_t kMinInputBytes = 512 << 10;  // half of a core's second cache
  static constexpr std::size_t kMaxProducts = 8 << 20;
  static constexpr std::size_t kRowsOfAStream = 8;  // reading weights takes as long as multiplying them with this many
  static constexpr std::size_t kPiecesPerThread = 4;

  /// Returns the largest size up to `most`, in kOutputs, with which threads of equal speed finish first. Not for a few
  /// rows: there, reading long pieces saves more.
  std::size_t balanced(std::size_t most, std::size_t row_pieces, std::size_t threads) const noexcept {
    const std::size_t units = count(outputs_, kOutputs);
    std::size_t best = most;
    std::size_t shortest = ~std::size_t{0};
    for (std::size_t units_of_piece = most; units_of_piece > 0; --units_of_piece) {
      const std::size_t longest = count(row_pieces * count(units, units_of_piece), threads) * units_of_piece;
      if (longest >= shortest) continue;
      shortest = longest;
      best = units_of_piece;
    }
    return best;
  }

  static std::size_t count(std::size_t all, std::size_t step) noexcept { return (all + step - 1) / step; }

  std::size_t rows_ = 0;
  std::size_t outputs_ = 0;
  std::size_t row_step_ = 1;
  std::size_t output_step_ = kOutputs;
};

}  // namespace lorekeep::decoder
