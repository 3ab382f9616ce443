#include "encoder/bert.h"

#include <algorithm>

#include "encoder/attention.h"

namespace lorekeep::encoder {
namespace {

// Rows per block of the feed-forward part: 96 x 1,536 hidden values are 576 KiB and fit a second-level cache of 1 MiB.
constexpr std::size_t kHiddenRows = 96;

bool cancelled(const CancelToken* cancel) {
  return cancel != nullptr && cancel->cancelled();
}

}  // namespace

bool BertRun::compute(std::span<const BertText> texts, Rows rows, const CancelToken* cancel) {
  const BertShape& shape = weights_.shape;
  tokens_ = 0;
  for (const BertText& text : texts) tokens_ += text.tokens.size();
  x_.at_least(tokens_ * shape.dimension);
  attended_.at_least(tokens_ * shape.dimension);
  qkv_.at_least(tokens_ * (shape.dimension + 2 * shape.kv_width()));
  embed(texts);
  for (const BertLayer& layer : weights_.layers) {
    if (cancelled(cancel)) return false;
    layer.qkv.apply(kernels_, x_.data(), tokens_, qkv_.data(), false, rounded_);
    attend(texts);
    layer.attention_output.apply(kernels_, attended_.data(), tokens_, x_.data(), true, rounded_);
    normalize(layer.attention_norm);
    if (cancelled(cancel)) return false;
    feed_forward(layer);
    normalize(layer.output_norm);
  }
  pool(texts, rows);
  return true;
}

void BertRun::embed(std::span<const BertText> texts) {
  const std::size_t width = weights_.shape.dimension;
  float* row = x_.data();
  for (const BertText& text : texts) {
    const float* position = weights_.positions.data();
    for (std::int32_t token : text.tokens) {
      weights_.token_row(token, row);
      for (std::size_t i = 0; i < width; ++i) row[i] += position[i];
      row += width;
      position += width;
    }
  }
  normalize(weights_.embedding_norm);
}

void BertRun::normalize(const Norm& norm) {
  const BertShape& shape = weights_.shape;
  for (std::size_t t = 0; t < tokens_; ++t) {
    kernels_.layer_norm(x_.data() + t * shape.dimension, norm.weight.data(), norm.bias.data(), shape.dimension,
                        shape.epsilon);
  }
}

void BertRun::attend(std::span<const BertText> texts) {
  std::size_t begin = 0;
  for (const BertText& text : texts) {
    for (std::size_t head = 0; head < weights_.shape.heads; ++head) attend_head(begin, text.tokens.size(), head);
    begin += text.tokens.size();
  }
}

void BertRun::attend_head(std::size_t begin, std::size_t tokens, std::size_t head) {
  const BertShape& shape = weights_.shape;
  const std::size_t size = shape.head_size();
  const std::size_t stride = shape.dimension + 2 * shape.kv_width();
  const float* rows = qkv_.data() + begin * stride;
  const float* queries = rows + head * size;
  const float* keys = rows + shape.dimension + head * shape.kv_heads / shape.heads * size;

  const std::size_t room = packed_keys(tokens, size);
  float* packed = keys_.at_least(room);
  std::fill(packed + room - kLanes * size, packed + room, 0.0f);
  pack_keys(keys, stride, 0, tokens, size, packed);
  float* scores = scores_.at_least(kQueries * (room / size));
  for (std::size_t first = 0; first < tokens; first += kQueries) {
    encoder::attend(kernels_, {packed, keys + shape.kv_width(), stride, tokens, size}, queries + first * stride, stride,
                    std::min(kQueries, tokens - first),
                    attended_.data() + (begin + first) * shape.dimension + head * size, shape.dimension, scores);
  }
}

void BertRun::feed_forward(const BertLayer& layer) {
  const BertShape& shape = weights_.shape;
  float* hidden = hidden_.at_least(std::min(kHiddenRows, tokens_) * shape.feed_forward);
  for (std::size_t begin = 0; begin < tokens_; begin += kHiddenRows) {
    const std::size_t count = std::min(kHiddenRows, tokens_ - begin);
    float* x = x_.data() + begin * shape.dimension;
    layer.up.apply(kernels_, x, count, hidden, false, rounded_);
    kernels_.gelu(hidden, count * shape.feed_forward);
    layer.down.apply(kernels_, hidden, count, x, true, rounded_);
  }
}

void BertRun::pool(std::span<const BertText> texts, Rows rows) const {
  const std::size_t width = weights_.shape.dimension;
  const float* row = x_.data();
  for (const BertText& text : texts) {
    const std::size_t count = text.tokens.size();
    float* vector = text.vector.data();
    if (rows == Rows::kMean) {
      std::fill_n(vector, width, 0.0f);
      for (std::size_t t = 0; t < count; ++t) {
        for (std::size_t i = 0; i < width; ++i) vector[i] += row[t * width + i];
      }
      for (std::size_t i = 0; i < width; ++i) vector[i] /= static_cast<float>(count);
    } else {
      std::copy_n(row + (rows == Rows::kFirst ? 0 : count - 1) * width, width, vector);
    }
    row += count * width;
  }
}

}  // namespace lorekeep::encoder
