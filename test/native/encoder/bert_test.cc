// Tests batches of the forward pass. test/models/architectures.test.ts compares its results with llama.cpp and with a
// plain computation in double precision.
#include "encoder/bert.h"

#include <cmath>
#include <random>
#include <vector>

#include "amx_emulator.h"
#include "encoder/kernel_sets.h"
#include "harness.h"

namespace lorekeep::encoder {
namespace {

constexpr std::size_t kVocabulary = 50;
constexpr BertShape kShape{64, 4, 2, 96, 200, 1e-12f};

BertWeights random_bert(Precision precision) {
  std::mt19937_64 random(test::seed());
  const auto numbers = [&random](std::size_t count, float scale) {
    std::uniform_real_distribution<float> uniform(-scale, scale);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(random);
    return values;
  };
  const auto norm = [&] { return Norm{numbers(kShape.dimension, 1), numbers(kShape.dimension, 0.1f)}; };
  const auto linear = [&](std::size_t inputs, std::size_t outputs) {
    const auto weights = numbers(inputs * outputs, 3 / std::sqrt(static_cast<float>(inputs)));
    return Linear(weights, numbers(outputs, 0.1f), inputs, outputs, precision);
  };
  BertWeights bert;
  bert.shape = kShape;
  bert.token_row = [table = numbers(kVocabulary * kShape.dimension, 1)](std::int32_t token, float* row) {
    std::copy_n(table.data() + static_cast<std::size_t>(token) * kShape.dimension, kShape.dimension, row);
  };
  bert.positions = numbers(kShape.context * kShape.dimension, 0.3f);
  bert.embedding_norm = norm();
  for (int layer = 0; layer < 2; ++layer) {
    BertLayer made;
    made.qkv = linear(kShape.dimension, kShape.dimension + 2 * kShape.kv_width());
    made.attention_output = linear(kShape.dimension, kShape.dimension);
    made.attention_norm = norm();
    made.up = linear(kShape.dimension, kShape.feed_forward);
    made.down = linear(kShape.feed_forward, kShape.dimension);
    made.output_norm = norm();
    bert.layers.push_back(std::move(made));
  }
  return bert;
}

using Tokens = std::vector<std::int32_t>;

Tokens tokens(std::size_t count, std::int32_t first) {
  Tokens found(count);
  for (std::size_t i = 0; i < count; ++i)
    found[i] = static_cast<std::int32_t>((static_cast<std::size_t>(first) + 7 * i) % kVocabulary);
  return found;
}

std::vector<float> embed(BertRun& run, const std::vector<Tokens>& texts, Rows rows) {
  std::vector<float> vectors(texts.size() * kShape.dimension);
  std::vector<BertText> batch;
  for (std::size_t i = 0; i < texts.size(); ++i)
    batch.push_back({texts[i], std::span(vectors).subspan(i * kShape.dimension, kShape.dimension)});
  CHECK(run.compute(batch, rows, nullptr));
  return vectors;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return dot / std::sqrt(aa * bb);
}

TEST("a text has the same vector, bit by bit, alone and in any batch, on buffers used before") {
  const BertWeights bert = random_bert(Precision::kF32);
  // One token; a panel of keys, and one more; more queries than are scored at a time; the longest.
  const std::vector<Tokens> texts{tokens(16, 1), tokens(1, 2), tokens(17, 3), tokens(120, 4), tokens(200, 5)};
  for (const EncoderKernels* set : available_kernels()) {
    BertRun run(bert, *set);
    for (Rows rows : {Rows::kMean, Rows::kFirst, Rows::kLast}) {
      const std::vector<float> together = embed(run, texts, rows);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::vector<float> alone = embed(run, {texts[i]}, rows);
        CHECK(std::equal(alone.begin(), alone.end(),
                         together.begin() + static_cast<std::ptrdiff_t>(i * kShape.dimension)));
      }
    }
  }
}

TEST("every set gives the vectors of the scalar one, bf16 and 8 bits nearly") {
  const std::vector<Tokens> texts{tokens(5, 1), tokens(40, 2)};
  const BertWeights exact = random_bert(Precision::kF32);
  BertRun slow(exact, *kernels_named("scalar"));
  const std::vector<float> expected = embed(slow, texts, Rows::kMean);
  const BertWeights half = random_bert(Precision::kBf16);
  const BertWeights quarter = random_bert(Precision::kQ8);
  for (const EncoderKernels* set : available_kernels()) {
    BertRun run(exact, *set);
    CHECK(cosine(embed(run, texts, Rows::kMean), expected) > 0.99999);
    if (set->gemm_bf16 != nullptr) {
      BertRun rounded(half, *set);
      CHECK(cosine(embed(rounded, texts, Rows::kMean), expected) > 0.999);
    }
    if (set->gemm_q8 != nullptr) {
      BertRun quantized(quarter, *set);
      CHECK(cosine(embed(quantized, texts, Rows::kMean), expected) > 0.999);
      const std::vector<float> alone = embed(quantized, {texts[0]}, Rows::kMean);
      const std::vector<float> together = embed(quantized, texts, Rows::kMean);
      CHECK(std::equal(alone.begin(), alone.end(), together.begin()));
    }
  }
}

#if LOREKEEP_AMX
TEST("the set over AMX tiles gives the vectors of the scalar one, alone and in any batch") {
  const test::AmxEmulator emulator(amx_bf16_permitted());
  if (!emulator.usable() || kernels_named("avx512") == nullptr) return;
  const std::vector<Tokens> texts{tokens(5, 1), tokens(40, 2)};
  const BertWeights half = random_bert(Precision::kBf16);
  BertRun slow(half, *kernels_named("scalar"));
  BertRun run(half, kAmxBf16Kernels);
  const std::vector<float> together = embed(run, texts, Rows::kMean);
  CHECK(cosine(together, embed(slow, texts, Rows::kMean)) > 0.99999);
  const std::vector<float> alone = embed(run, {texts[0]}, Rows::kMean);
  CHECK(std::equal(alone.begin(), alone.end(), together.begin()));
}
#endif

TEST("pooling: the first and the last rows differ, and one token's mean is its row") {
  const BertWeights bert = random_bert(Precision::kF32);
  BertRun run(bert, *available_kernels().back());
  const std::vector<Tokens> one{tokens(1, 3)};
  CHECK(embed(run, one, Rows::kMean) == embed(run, one, Rows::kFirst));
  CHECK(embed(run, one, Rows::kMean) == embed(run, one, Rows::kLast));
  const std::vector<Tokens> two{tokens(2, 3)};
  CHECK(cosine(embed(run, two, Rows::kFirst), embed(run, two, Rows::kLast)) < 0.999);
}

TEST("a cancelled batch is not computed") {
  const BertWeights bert = random_bert(Precision::kF32);
  BertRun run(bert, *available_kernels().back());
  CancelToken cancel;
  cancel.cancel();
  const Tokens text = tokens(10, 1);
  std::vector<float> vector(kShape.dimension);
  const BertText one{text, vector};
  CHECK(!run.compute({&one, 1}, Rows::kMean, &cancel));
}

}  // namespace
}  // namespace lorekeep::encoder
