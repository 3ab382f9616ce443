#include "decoder/forward.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "quant/multiply.h"

namespace lorekeep::decoder {
namespace {

// Rows with fewer numbers together than this are not worth sharing among threads.
constexpr std::size_t kWorthSharing = 16 << 10;
constexpr std::size_t kMaxProductsAtOnce = 3;
constexpr std::size_t kRowsOfAnOutput = 2;       // the rounded inputs and their remainders
constexpr std::size_t kFinishedTogether = 4096;  // capped in some 50 µs; a large vocabulary takes milliseconds

}  // namespace

void Forward::Rows::resize(std::size_t rows, std::size_t width) {
  stride = padded(width);
  data = Buffer<float>(rows * stride);
  // Only what kernels read beyond a row's end: most steps have few rows, and leave the rest of the memory untouched.
  if (stride == width) return;
  for (std::size_t row = 0; row < rows; ++row) std::fill(at(row) + width, at(row) + stride, 0.0f);
}

Forward::Forward(std::shared_ptr<const DecoderWeights> weights, KvCache& cache, Team& team, std::size_t most_rows,
                 std::size_t most_outputs)
    : weights_(std::move(weights)),
      shape_(weights_->shape),
      kernels_(*available_kernels().back()),
      cache_(cache),
      team_(team),
      attention_(shape_, kernels_, cache, team) {
  const std::size_t most_inputs = std::max(most_rows, kRowsOfAnOutput * most_outputs);
  embeddings_.resize(most_rows, shape_.width);
  normed_.resize(most_inputs, shape_.width);
  query_.resize(most_rows, shape_.query_width());
  key_.resize(most_rows, shape_.kv_width());
  value_.resize(most_rows, shape_.kv_width());
  attended_.resize(most_rows, shape_.query_width());
  gate_.resize(most_rows, shape_.hidden);
  up_.resize(most_rows, shape_.hidden);
  added_.resize(most_rows, shape_.width);
  logits_.resize(kRowsOfAnOutput * most_outputs, shape_.vocabulary);
  // Grown to its largest here, because a step must not fail.
  const std::size_t widest = std::max({shape_.width, shape_.query_width(), shape_.hidden});
  inputs_.reset(gate_.data.data(), widest, padded(widest), most_inputs);
  cosines_.resize(shape_.rotaries.size());
  sines_.resize(shape_.rotaries.size());
  for (std::size_t i = 0; i < shape_.rotaries.size(); ++i) {
    cosines_[i].resize(most_rows, shape_.rotaries[i].divisors.size());
    sines_[i].resize(most_rows, shape_.rotaries[i].divisors.size());
  }
}

std::size_t Forward::bytes(const DecoderShape& shape, std::size_t most_rows, std::size_t most_outputs) noexcept {
  const std::size_t row = 3 * padded(shape.width) + 2 * padded(shape.query_width()) + 2 * padded(shape.kv_width()) +
                          2 * padded(shape.hidden);
  // A quantised row takes little more than a byte for each input.
  const std::size_t inputs = std::max({shape.width, shape.query_width(), shape.hidden}) * 5 / 4;
  return most_rows * (row * sizeof(float) + inputs) +
         kRowsOfAnOutput * most_outputs * padded(shape.vocabulary) * sizeof(float);
}

template <class Body>
bool Forward::each_row(std::size_t count, const Body& body) {
  const std::size_t together = std::max<std::size_t>(1, kWorthSharing / shape_.width);
  if (count <= together) {
    for (std::size_t row = 0; row < count; ++row) body(row);
    return true;
  }
  const std::size_t step = (together + 1) / 2;
  const std::size_t tickets = (count + step - 1) / step;
  return team_.run(tickets, [&](std::size_t ticket, std::size_t) {
    const std::size_t end = count * (ticket + 1) / tickets;
    for (std::size_t row = count * ticket / tickets; row < end; ++row) body(row);
  });
}

bool Forward::multiply(std::size_t rows, std::span<const Product> products) {
  std::array<Pieces, kMaxProductsAtOnce> pieces;
  std::size_t tickets = 0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const quant::PackedMatrix& matrix = *products[i].matrix;
    pieces[i] = Pieces(rows, matrix.outputs(), matrix.inputs(), team_.size());
    tickets += pieces[i].size();
  }
  return team_.run(tickets, [&](std::size_t ticket, std::size_t) {
    std::size_t product = 0;
    while (ticket >= pieces[product].size()) ticket -= pieces[product++].size();
    compute_piece(products[product], pieces[product].at(ticket));
  });
}

void Forward::compute_piece(const Product& product, const Pieces::Piece& piece) noexcept {
  quant::multiply(*product.matrix, inputs_, {piece.row, piece.row + piece.rows},
                  {piece.output, piece.output + piece.outputs}, product.to->data.data(), product.to->stride);
}

bool Forward::compute(std::span<const Row> rows) {
  plan(rows);
  if (!embed()) return false;
  for (std::size_t i = 0; i < shape_.layers; ++i) {
    if (!attend(i)) return false;
    if (active_ > 0 && !feed_forward(i)) return false;
  }
  return outputs();
}

void Forward::plan(std::span<const Row> rows) {
  rows_ = rows;
  active_ = rows.size();
  parts_.clear();
  output_rows_.clear();
  output_of_row_.assign(rows.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (parts_.empty() || parts_.back().sequence != rows[i].sequence)
      parts_.push_back({rows[i].sequence, rows[i].position, i, 0});
    ++parts_.back().rows;
    if (!rows[i].output) continue;
    output_of_row_[i] = output_rows_.size();
    output_rows_.push_back(i);
  }
  attention_.plan(parts_);
}

// Moves the rows with an output to the front. The others need no more than their keys and values in the last layer.
void Forward::keep_outputs() {
  const std::size_t count = output_rows_.size();
  if (count == active_) return;
  active_ = count;
  parts_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = output_rows_[i];
    parts_.push_back({rows_[row].sequence, rows_[row].position, i, 1});
    if (row == i) continue;
    std::copy_n(embeddings_.at(row), embeddings_.stride, embeddings_.at(i));
    std::copy_n(query_.at(row), query_.stride, query_.at(i));
  }
  attention_.plan(parts_);
}

bool Forward::embed() {
  return each_row(rows_.size(), [&](std::size_t row) {
    float* to = embeddings_.at(row);
    weights_->embeddings.row(static_cast<std::size_t>(rows_[row].token), to);
    if (shape_.embedding_scale != 1) kernels_.scale(to, shape_.embedding_scale, shape_.width);
    for (std::size_t i = 0; i < shape_.rotaries.size(); ++i) {
      const std::vector<double>& divisors = shape_.rotaries[i].divisors;
      for (std::size_t angle = 0; angle < divisors.size(); ++angle) {
        const double radians = static_cast<double>(rows_[row].position) / divisors[angle];
        cosines_[i].at(row)[angle] = static_cast<float>(std::cos(radians));
        sines_[i].at(row)[angle] = static_cast<float>(std::sin(radians));
      }
    }
  });
}

void Forward::add_residual(const std::vector<float>& post_norm, std::size_t row) noexcept {
  float* added = added_.at(row);
  if (!post_norm.empty()) kernels_.rms_norm(added, post_norm.data(), added, shape_.width, shape_.epsilon);
  kernels_.add(embeddings_.at(row), added, shape_.width);
}

bool Forward::attend(std::size_t index) {
  const LayerWeights& layer = weights_->layers[index];
  const std::size_t rows = rows_.size();
  inputs_.reset(normed_.data.data(), shape_.width, normed_.stride, rows);
  const auto norm = [&](std::size_t row) {
    if (index > 0) add_residual(weights_->layers[index - 1].post_feed_forward_norm, row);
    kernels_.rms_norm(embeddings_.at(row), layer.attention_norm.data(), normed_.at(row), shape_.width, shape_.epsilon);
    inputs_.quantize(row, row + 1);
  };
  const std::array<Product, 3> products{{{&layer.query, &query_}, {&layer.key, &key_}, {&layer.value, &value_}}};
  if (!each_row(rows, norm) || !multiply(rows, products)) return false;
  if (!each_row(rows, [&](std::size_t row) { place(layer, index, row); })) return false;
  if (index + 1 == shape_.layers) keep_outputs();
  if (active_ == 0) return true;
  if (!attention_.compute(index, layer.window, query_.data.data(), attended_.data.data(), query_.stride)) return false;
  inputs_.reset(attended_.data.data(), shape_.query_width(), attended_.stride, active_);
  const std::array<Product, 1> output{{{&layer.output, &added_}}};
  return each_row(active_, [&](std::size_t row) { inputs_.quantize(row, row + 1); }) && multiply(active_, output);
}

void Forward::rotate(float* head, const LayerWeights& layer, std::size_t row) noexcept {
  const float* cosines = cosines_[layer.rotary].at(row);
  const float* sines = sines_[layer.rotary].at(row);
  const std::size_t angles = shape_.rotaries[layer.rotary].divisors.size();
  (shape_.rotary_style == RotaryStyle::kPairs ? kernels_.rotate_pairs : kernels_.rotate_halves)(head, cosines, sines,
                                                                                                angles);
}

// Finishes a row's queries, keys and values, and puts keys and values into their cells.
void Forward::place(const LayerWeights& layer, std::size_t index, std::size_t row) noexcept {
  float* query = query_.at(row);
  float* key = key_.at(row);
  float* value = value_.at(row);
  if (!layer.query_bias.empty()) kernels_.add(query, layer.query_bias.data(), shape_.query_width());
  if (!layer.key_bias.empty()) kernels_.add(key, layer.key_bias.data(), shape_.kv_width());
  if (!layer.value_bias.empty()) kernels_.add(value, layer.value_bias.data(), shape_.kv_width());
  for (std::size_t i = 0; i < shape_.heads; ++i) {
    float* head = query + i * shape_.head;
    if (!layer.query_norm.empty()) kernels_.rms_norm(head, layer.query_norm.data(), head, shape_.head, shape_.epsilon);
    rotate(head, layer, row);
  }
  const Row& at = rows_[row];
  for (std::size_t i = 0; i < shape_.kv_heads; ++i) {
    float* head = key + i * shape_.head;
    if (!layer.key_norm.empty()) kernels_.rms_norm(head, layer.key_norm.data(), head, shape_.head, shape_.epsilon);
    rotate(head, layer, row);
    cache_.store(at.sequence, at.position, index, i, head, value + i * shape_.head, kernels_);
  }
}

bool Forward::feed_forward(std::size_t index) {
  const LayerWeights& layer = weights_->layers[index];
  const std::size_t rows = active_;
  inputs_.reset(normed_.data.data(), shape_.width, normed_.stride, rows);
  const auto norm = [&](std::size_t row) {
    add_residual(layer.post_attention_norm, row);
    kernels_.rms_norm(embeddings_.at(row), layer.feed_forward_norm.data(), normed_.at(row), shape_.width,
                      shape_.epsilon);
    inputs_.quantize(row, row + 1);
  };
  if (!each_row(rows, norm)) return false;
  const auto activate = shape_.activation == Activation::kSilu ? kernels_.silu_times : kernels_.gelu_times;
  const Product gate{&layer.gate, &gate_};
  const Product up{&layer.up, &up_};
  const Pieces pieces(rows, shape_.hidden, 2 * shape_.width, team_.size());
  const auto piece = [&](std::size_t ticket, std::size_t) {
    const Pieces::Piece found = pieces.at(ticket);
    compute_piece(gate, found);
    compute_piece(up, found);
    for (std::size_t row = found.row; row < found.row + found.rows; ++row)
      activate(gate_.at(row) + found.output, up_.at(row) + found.output, found.outputs);
  };
  if (!team_.run(pieces.size(), piece)) return false;
  inputs_.reset(gate_.data.data(), shape_.hidden, gate_.stride, rows);
  const std::array<Product, 1> down{{{&layer.down, &added_}}};
  return each_row(rows, [&](std::size_t row) { inputs_.quantize(row, row + 1); }) && multiply(rows, down);
}

// Rounded inputs would change the logits directly. Their remainders are rows of their own, so logits have the error of
// 16 bits; the weights, whose reading takes the time of a reply, are read once for both.
bool Forward::outputs() {
  const std::size_t count = output_rows_.size();
  if (count == 0) return true;
  const bool rounded = !quant::is_float(weights_->logits().format());
  const std::size_t rows = rounded ? kRowsOfAnOutput * count : count;
  inputs_.reset(normed_.data.data(), shape_.width, normed_.stride, rows);
  for (std::size_t i = 0; i < count; ++i) {
    add_residual(weights_->layers.back().post_feed_forward_norm, i);
    kernels_.rms_norm(embeddings_.at(i), weights_->output_norm.data(), normed_.at(i), shape_.width, shape_.epsilon);
    if (!rounded) continue;
    inputs_.quantize(i, i + 1);
    inputs_.remainder(i, normed_.at(count + i));
    inputs_.quantize(count + i, count + i + 1);
  }
  const std::array<Product, 1> product{{{&weights_->logits(), &logits_}}};
  return multiply(rows, product) && finish_logits(count, rounded);
}

bool Forward::finish_logits(std::size_t count, bool rounded) {
  if (!rounded && shape_.logit_softcap == 0) return true;
  const std::size_t pieces = (shape_.vocabulary + kFinishedTogether - 1) / kFinishedTogether;
  return team_.run(count * pieces, [&](std::size_t ticket, std::size_t) {
    const std::size_t begin = ticket % pieces * kFinishedTogether;
    const std::size_t some = std::min(kFinishedTogether, shape_.vocabulary - begin);
    float* logits = logits_.at(ticket / pieces) + begin;
    if (rounded) kernels_.add(logits, logits_.at(count + ticket / pieces) + begin, some);
    if (shape_.logit_softcap == 0) return;
    for (std::size_t i = 0; i < some; ++i)
      logits[i] = shape_.logit_softcap * std::tanh(logits[i] / shape_.logit_softcap);
  });
}

std::span<float> Forward::logits(std::size_t row) noexcept {
  return {logits_.at(output_of_row_[row]), shape_.vocabulary};
}

}  // namespace lorekeep::decoder
