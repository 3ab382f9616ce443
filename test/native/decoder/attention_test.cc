// Attention against a naive one in double, and its bits against other divisions of the same work.
#include "decoder/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/cpu/half.h"
#include "harness.h"

namespace lorekeep::decoder {
namespace {

DecoderShape shape_of(std::size_t heads, std::size_t kv_heads, std::size_t head, float softcap) {
  DecoderShape shape{};
  shape.layers = 1;
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.head = head;
  shape.attention_scale = 1.0f / std::sqrt(static_cast<float>(head));
  shape.attention_softcap = softcap;
  return shape;
}

void round_to(float* head, std::size_t width, float scale) {
  for (std::size_t i = 0; i < width; ++i) head[i] = std::nearbyint(head[i] / scale) * scale;
}

/// What integers of 16 bits hold of a query or a key.
void round_vector(float* head, std::size_t width) {
  double squares = 0;
  float largest = 0;
  for (std::size_t i = 0; i < width; ++i) {
    squares += static_cast<double>(head[i]) * head[i];
    largest = std::max(largest, std::abs(head[i]));
  }
  const float scale = std::max(static_cast<float>(std::sqrt(squares)) / kLongestVector, largest / 32767);
  if (scale > 0) round_to(head, width, scale);
}

/// Rounds a head to 8 bits. Returns the length of one with the same scales whose quants are all 128.
float round_to_8_bits(float* head, std::size_t width) {
  float squares = 0;
  for (std::size_t begin = 0; begin < width; begin += kScaleDimensions) {
    const std::size_t end = std::min(begin + kScaleDimensions, width);
    float largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(head[i]));
    const float scale = float_from_half(half_from_float(largest / 127));
    const float inverse = 1 / scale;
    for (std::size_t i = begin; i < end; ++i)
      head[i] = std::clamp(std::nearbyint(head[i] * inverse), -127.0f, 127.0f) * scale;
    squares += kScaleDimensions * scale * scale;
  }
  return 128 * std::sqrt(squares);
}

/// What a cache returns for the key of a head of a cell.
void round_key(float* head, std::size_t width, CacheFormat format) {
  if (format == CacheFormat::kF16) return round_vector(head, width);
  const float longest = round_to_8_bits(head, width);
  round_to(head, width, longest / kLongestVector);
}

/// The same for the value.
void round_value(float* head, std::size_t width, CacheFormat format) {
  if (format != CacheFormat::kF16) round_to_8_bits(head, width);
  float largest = 0;
  for (std::size_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(head[i]));
  if (format == CacheFormat::kF16 && largest > 0) round_to(head, width, largest / kLargestValue);
}

/// Random queries, keys and values of some tokens.
struct Tokens {
  Tokens(const DecoderShape& by, std::size_t count, unsigned long long seed, CacheFormat cache_format)
      : shape(by), tokens(count), format(cache_format) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& to, std::size_t width) {
      to.resize(width * count);
      for (float& value : to) value = normal(random);
    };
    fill(queries, shape.query_width());
    fill(keys, shape.kv_width());
    fill(values, shape.kv_width());
    round();
  }
  void round() {
    given_queries = queries;
    given_keys = keys;
    given_values = values;
    for (std::size_t i = 0; i < queries.size(); i += shape.head) round_vector(queries.data() + i, shape.head);
    for (std::size_t i = 0; i < keys.size(); i += shape.head) {
      round_key(keys.data() + i, shape.head, format);
      round_value(values.data() + i, shape.head, format);
    }
  }
  void store(KvCache& cache, std::size_t sequence, std::size_t token, const DecoderKernels& kernels) const {
    for (std::size_t kv = 0; kv < shape.kv_heads; ++kv) {
      const std::size_t from = token * shape.kv_width() + kv * shape.head;
      cache.store(sequence, token, 0, kv, given_keys.data() + from, given_values.data() + from, kernels);
    }
  }
  double naive(std::size_t token, std::size_t head, std::size_t dimension, std::size_t window) const {
    const std::size_t kv = head / shape.group();
    const std::size_t first = window == 0 || token + 1 <= window ? 0 : token + 1 - window;
    std::vector<double> scores;
    for (std::size_t key = first; key <= token; ++key) {
      double score = 0;
      for (std::size_t d = 0; d < shape.head; ++d)
        score += static_cast<double>(queries[token * shape.query_width() + head * shape.head + d]) *
                 keys[key * shape.kv_width() + kv * shape.head + d];
      score *= shape.attention_scale;
      if (shape.attention_softcap > 0) score = shape.attention_softcap * std::tanh(score / shape.attention_softcap);
      scores.push_back(score);
    }
    const double top = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    double weighted = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double weight = std::exp(scores[i] - top);
      sum += weight;
      weighted += weight * values[(first + i) * shape.kv_width() + kv * shape.head + dimension];
    }
    return weighted / sum;
  }

  DecoderShape shape;
  std::size_t tokens;
  CacheFormat format;
  std::vector<float> queries;  // as attention rounds them
  std::vector<float> keys;     // as the cache rounds them
  std::vector<float> values;
  std::vector<float> given_queries;
  std::vector<float> given_keys;
  std::vector<float> given_values;
};

/// Computes all tokens in steps of the given sizes, in turn.
std::vector<float> attended(const Tokens& tokens, const DecoderKernels& kernels, std::size_t threads,
                            std::size_t window, const std::vector<std::size_t>& steps) {
  const DecoderShape& shape = tokens.shape;
  KvCache cache({1, shape.kv_heads, shape.head, tokens.format}, tokens.tokens, 2);
  Team team(threads);
  Attention attention(shape, kernels, cache, team);
  std::vector<float> found(tokens.tokens * shape.query_width());
  for (std::size_t done = 0, step = 0; done < tokens.tokens; ++step) {
    const std::size_t rows = std::min(steps[step % steps.size()], tokens.tokens - done);
    cache.extend(1, done + rows);
    for (std::size_t i = 0; i < rows; ++i) tokens.store(cache, 1, done + i, kernels);
    const Part part{1, done, 0, rows};
    team.begin(threads, nullptr);
    attention.plan({&part, 1});
    CHECK(attention.compute(0, window, tokens.given_queries.data() + done * shape.query_width(),
                            found.data() + done * shape.query_width(), shape.query_width()));
    cache.set_length(1, done + rows);
    done += rows;
  }
  return found;
}

TEST("attention: agrees with a naive one for all kinds of heads, windows and kernels") {
  struct Case {
    std::size_t heads, kv_heads, head, tokens, window;
    float softcap;
    CacheFormat format = CacheFormat::kF16;
  };
  constexpr CacheFormat kQ8_0 = CacheFormat::kQ8_0;
  constexpr Case kCases[] = {{3, 1, 64, 300, 0, 0},        {4, 4, 16, 70, 0, 0},         {4, 2, 10, 40, 0, 0},
                             {2, 1, 80, 33, 0, 0},         {7, 1, 8, 270, 32, 0},        {2, 2, 128, 20, 0, 5},
                             {2, 1, 48, 600, 300, 50},     {1, 1, 2, 5, 1, 0},           {3, 1, 64, 300, 0, 0, kQ8_0},
                             {4, 2, 10, 270, 0, 0, kQ8_0}, {2, 1, 80, 70, 33, 5, kQ8_0}, {2, 2, 48, 300, 0, 0, kQ8_0}};
  for (const DecoderKernels* set : available_kernels()) {
    for (const Case& one : kCases) {
      const Tokens tokens(shape_of(one.heads, one.kv_heads, one.head, one.softcap), one.tokens, test::seed(),
                          one.format);
      const std::vector<float> found = attended(tokens, *set, 2, one.window, {one.tokens});
      double worst = 0;
      for (std::size_t token = 0; token < one.tokens; token += 1 + token / 16) {
        for (std::size_t i = 0; i < tokens.shape.query_width(); ++i) {
          const double expected = tokens.naive(token, i / one.head, i % one.head, one.window);
          worst = std::max(worst, std::abs(expected - found[token * tokens.shape.query_width() + i]));
        }
      }
      // The integer of a weight is half a unit off at most, and the unit is the weights' sum by 262,000.
      CHECK(worst < 6e-4);
    }
  }
}

TEST("attention: the longest queries and keys, parallel and opposite, overflow no sum") {
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t head : {2u, 64u, 256u}) {
      DecoderShape shape = shape_of(1, 1, head, 0);
      shape.attention_scale = 1e-9f;
      for (const bool spike : {false, true}) {
        Tokens tokens(shape, 4, test::seed(), CacheFormat::kF16);
        for (std::size_t token = 0; token < 4; ++token) {
          for (std::size_t d = 0; d < head; ++d) {
            const float value = spike && d > 0 ? 0 : d % 2 == 0 ? 65504.0f : -65504.0f;
            tokens.queries[token * head + d] = value;
            tokens.keys[token * head + d] = token % 2 == 0 ? value : -value;
          }
        }
        tokens.round();
        const std::vector<float> found = attended(tokens, *set, 1, 0, {4});
        for (std::size_t i = 0; i < found.size(); ++i)
          CHECK_NEAR(found[i], tokens.naive(i / head, 0, i % head, 0), 1e-4);
      }
    }
  }
}

TEST("attention: the largest values under equal and under single weights overflow no sum") {
  for (const DecoderKernels* set : available_kernels()) {
    for (const float size : {1e-6f, 1.0f, 65504.0f}) {
      for (const bool single : {false, true}) {
        DecoderShape shape = shape_of(1, 1, 48, 0);
        shape.attention_scale = single ? 1.0f : 1e-9f;
        Tokens tokens(shape, 600, test::seed(), CacheFormat::kF16);
        for (std::size_t i = 0; i < tokens.values.size(); ++i) tokens.values[i] = i % 48 % 2 == 0 ? size : -size;
        tokens.round();
        const std::vector<float> found = attended(tokens, *set, 1, 0, {600});
        double worst = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
          worst = std::max(worst, std::abs(static_cast<double>(found[i]) / size - (i % 48 % 2 == 0 ? 1 : -1)));
        CHECK(worst < 1e-3);
      }
    }
  }
}

TEST("attention: the bits of a row do not depend on steps, neighbours or threads") {
  for (const DecoderKernels* set : available_kernels()) {
    for (const std::size_t window : {0u, 100u}) {
      const CacheFormat format = window == 0 ? CacheFormat::kF16 : CacheFormat::kQ8_0;
      const Tokens tokens(shape_of(6, 2, 24, 0), 700, test::seed() + window, format);
      const std::vector<float> whole = attended(tokens, *set, 1, window, {700});
      for (const std::vector<std::size_t>& steps :
           {std::vector<std::size_t>{1}, {16}, {5, 1, 64}, {255, 1, 2}, {512, 1}}) {
        const std::vector<float> found = attended(tokens, *set, 3, window, steps);
        CHECK(std::memcmp(found.data(), whole.data(), whole.size() * sizeof(float)) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace lorekeep::decoder
