// The forward pass of small random models: its bits do not depend on the division into steps, on neighbours, on threads
// or on steps that were given up. (test/lib compares its logits with llama.cpp's.)
#include "decoder/forward.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "harness.h"

namespace lorekeep::decoder {
namespace {

constexpr std::size_t kTokens = 97;

quant::PackedMatrix matrix(std::mt19937_64& random, quant::Format format, std::size_t outputs, std::size_t inputs) {
  std::vector<std::byte> bytes(outputs * quant::row_bytes(format, inputs));
  const std::size_t block = quant::block_bytes(format);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(random());
  if (format == quant::Format::kF32) {
    std::normal_distribution<float> normal(0, 0.1f);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
      const float value = normal(random);
      std::memcpy(bytes.data() + i, &value, sizeof value);
    }
  } else {
    const std::uint16_t scale = 0x1400;  // about 0.001: the first field of Q8_0 and Q4_0
    for (std::size_t i = 0; i < bytes.size(); i += block) std::memcpy(bytes.data() + i, &scale, sizeof scale);
  }
  return quant::PackedMatrix::pack(format, bytes, outputs, inputs, {});
}

std::shared_ptr<const DecoderWeights> model(quant::Format format, std::size_t width, std::size_t hidden) {
  std::mt19937_64 random(test::seed());
  auto weights = std::make_shared<DecoderWeights>();
  DecoderShape& shape = weights->shape;
  shape.layers = 2;
  shape.width = width;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head = width / 4;
  shape.hidden = hidden;
  shape.vocabulary = kTokens;
  shape.epsilon = 1e-5f;
  shape.attention_scale = 0.3f;
  for (std::size_t i = 0; i < shape.head / 2; ++i) {
    if (i == 0) shape.rotaries.emplace_back();
    shape.rotaries[0].divisors.push_back(1.0 + static_cast<double>(i * i));
  }
  weights->embeddings = matrix(random, format, kTokens, width);
  weights->output_norm.assign(width, 1.0f);
  for (std::size_t i = 0; i < shape.layers; ++i) {
    LayerWeights& layer = weights->layers.emplace_back();
    layer.attention_norm.assign(width, 1.1f);
    layer.feed_forward_norm.assign(width, 0.9f);
    layer.query = matrix(random, format, width, width);
    layer.key = matrix(random, format, shape.kv_width(), width);
    layer.value = matrix(random, format, shape.kv_width(), width);
    layer.output = matrix(random, format, width, width);
    layer.gate = matrix(random, format, hidden, width);
    layer.up = matrix(random, format, hidden, width);
    layer.down = matrix(random, format, width, hidden);
  }
  return weights;
}

/// A model with its cache and threads.
struct Context {
  Context(std::shared_ptr<const DecoderWeights> weights, std::size_t threads)
      : cache({weights->shape.layers, weights->shape.kv_heads, weights->shape.head}, 4096, 8),
        team(threads),
        forward(weights, cache, team, 256, 16) {}

  bool step(const std::vector<Row>& rows, const std::function<bool()>& unwanted = {}) {
    for (const Row& row : rows) REQUIRE(cache.extend(row.sequence, row.position + 1));
    team.begin(team.size(), &unwanted);
    const bool computed = forward.compute(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + 1 < rows.size() && rows[i + 1].sequence == rows[i].sequence) continue;
      cache.set_length(rows[i].sequence, computed ? rows[i].position + 1 : cache.length(rows[i].sequence));
    }
    return computed;
  }

  KvCache cache;
  Team team;
  Forward forward;
};

std::int32_t token_at(std::size_t position, std::size_t salt) {
  return static_cast<std::int32_t>((position * 31 + salt * 17 + position * position % 7) % kTokens);
}

void append(std::vector<Row>& rows, std::size_t sequence, std::size_t from, std::size_t count, std::size_t salt) {
  for (std::size_t i = from; i < from + count; ++i)
    rows.push_back({token_at(i, salt), i, sequence, i + 1 == from + count});
}

std::vector<float> logits(Context& context, std::size_t row) {
  const std::span<float> found = context.forward.logits(row);
  return {found.begin(), found.end()};
}

/// The last logits of a text of `count` tokens, computed in steps of `chunk`. If that is odd, earlier steps have no
/// output.
std::vector<float> alone(Context& context, std::size_t count, std::size_t chunk, std::size_t salt) {
  context.cache.set_length(0, 0);
  std::vector<float> found;
  for (std::size_t done = 0; done < count;) {
    std::vector<Row> rows;
    append(rows, 0, done, std::min(chunk, count - done), salt);
    done += rows.size();
    rows.back().output = done == count || chunk % 2 == 0;
    REQUIRE(context.step(rows));
    if (rows.back().output) found = logits(context, rows.size() - 1);
  }
  return found;
}

constexpr quant::Format kTested[] = {quant::Format::kF32, quant::Format::kQ8_0, quant::Format::kQ4_0};

TEST("forward: the bits of logits do not depend on chunk sizes and threads") {
  for (const quant::Format format : kTested) {
    const auto weights = model(format, 64, 96);
    Context one(weights, 1);
    Context three(weights, 3);
    const std::vector<float> expected = alone(one, 150, 150, 1);
    for (const std::size_t chunk : {1u, 2u, 16u, 33u, 64u, 149u}) CHECK(alone(three, 150, chunk, 1) == expected);
    CHECK(alone(one, 150, 149, 2) != expected);
  }
}

TEST("forward: the bits of logits do not depend on neighbours in the step, or on sharing a prefix") {
  const auto weights = model(quant::Format::kQ8_0, 64, 96);
  Context context(weights, 2);
  const std::vector<float> first = alone(context, 70, 70, 1);
  const std::vector<float> second = alone(context, 45, 45, 2);
  context.cache.set_length(0, 0);
  std::vector<Row> rows;
  append(rows, 0, 0, 50, 1);
  append(rows, 1, 0, 40, 2);
  REQUIRE(context.step(rows));
  context.cache.share(0, 2, 50);
  rows.clear();
  append(rows, 1, 40, 5, 2);
  append(rows, 2, 50, 20, 1);
  append(rows, 3, 0, 64, 5);
  append(rows, 0, 50, 1, 3);  // the owner of the prefix goes on with other tokens
  REQUIRE(context.step(rows));
  CHECK(logits(context, 4) == second);
  CHECK(logits(context, 24) == first);
}

TEST("forward: every logit of every output is capped, whatever the number of threads") {
  constexpr std::size_t kVocabulary = 2 * 4096 + 33;
  constexpr float kCap = 0.5f;
  const auto plain = std::make_shared<DecoderWeights>(*model(quant::Format::kF32, 32, 48));
  std::mt19937_64 random(test::seed());
  plain->shape.vocabulary = kVocabulary;
  plain->embeddings = matrix(random, quant::Format::kF32, kVocabulary, 32);
  const auto capped = std::make_shared<DecoderWeights>(*plain);
  capped->shape.logit_softcap = kCap;
  std::vector<Row> rows;
  append(rows, 1, 0, 3, 5);
  append(rows, 2, 0, 2, 6);
  Context expected(plain, 1);
  REQUIRE(expected.step(rows));
  for (std::size_t threads : {1u, 3u}) {
    Context found(capped, threads);
    REQUIRE(found.step(rows));
    for (const std::size_t row : {2u, 4u}) {
      const auto before = logits(expected, row);
      const auto after = logits(found, row);
      REQUIRE(after.size() == kVocabulary);
      for (std::size_t i = 0; i < kVocabulary; ++i) CHECK_NEAR(after[i], kCap * std::tanh(before[i] / kCap), 1e-6);
    }
  }
}

TEST("forward: logits of a quantised matrix are as near as inputs of 16 bits make them") {
  const auto quantised = std::make_shared<DecoderWeights>(*model(quant::Format::kF32, 64, 96));
  std::mt19937_64 random(test::seed());
  quantised->output = matrix(random, quant::Format::kQ8_0, kTokens, 64);
  const auto exact = std::make_shared<DecoderWeights>(*quantised);
  std::vector<float> values(kTokens * 64);
  for (std::size_t i = 0; i < kTokens; ++i) quantised->output.row(i, values.data() + i * 64);
  exact->output = quant::PackedMatrix::pack(quant::Format::kF32, std::as_bytes(std::span(values)), kTokens, 64, {});
  Context one(quantised, 1);
  Context three(quantised, 3);
  Context reference(exact, 1);
  std::vector<Row> rows;
  for (std::size_t sequence = 1; sequence <= 5; ++sequence) append(rows, sequence, 0, 3, sequence);
  for (Context* context : {&one, &three, &reference}) REQUIRE(context->step(rows));
  double largest = 0;
  double off = 0;
  for (std::size_t row = 2; row < rows.size(); row += 3) {
    const auto expected = logits(reference, row);
    const auto found = logits(one, row);
    CHECK(logits(three, row) == found);
    for (std::size_t i = 0; i < kTokens; ++i) {
      largest = std::max<double>(largest, std::abs(expected[i]));
      off = std::max<double>(off, std::abs(expected[i] - found[i]));
    }
  }
  CHECK(off < 1e-4 * largest);  // with inputs of 8 bits some 4e-3
}

// Every operation asks once before its tickets, and the calling thread after each ticket that it took itself. With
// several threads the number of tickets is therefore not known, but the number of operations is.
TEST("forward: a step that is given up anywhere changes nothing") {
  constexpr int kMinOperations = 6;
  const auto weights = model(quant::Format::kQ8_0, 64, 96);
  for (const std::size_t threads : {1u, 2u}) {
    Context context(weights, threads);
    const std::vector<float> expected = alone(context, 120, 60, 1);
    bool completed = false;
    int given_up = 0;
    for (int patience = 0; !completed; ++patience) {
      context.cache.set_length(0, 0);
      std::vector<Row> rows;
      append(rows, 0, 0, 60, 1);
      REQUIRE(context.step(rows));
      rows.clear();
      append(rows, 0, 60, 60, 1);
      int asked = 0;
      completed = context.step(rows, [&] { return ++asked > patience; });
      given_up += completed ? 0 : 1;
      if (!completed) {
        CHECK_EQ(context.cache.length(0), std::size_t{60});
        REQUIRE(context.step(rows));
      }
      CHECK(logits(context, 59) == expected);
    }
    CHECK(given_up >= kMinOperations);
  }
}

}  // namespace
}  // namespace lorekeep::decoder
