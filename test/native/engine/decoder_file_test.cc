// The reader of decoders: what it takes, what it leaves to llama.cpp, and that no file makes it read, allocate or
// compute out of bounds.
#include "engine/decoder_file.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "decoder/forward.h"
#include "gguf_bytes.h"
#include "harness.h"

using namespace lorekeep;
using namespace lorekeep::engine;
using lorekeep::test::GgufBytes;
using lorekeep::test::small_decoder;
using lorekeep::test::TemporaryFile;

namespace {

constexpr std::uint64_t kWidth = 16;

DecoderPlan plan(const GgufBytes& file) {
  const TemporaryFile temporary(file.bytes());
  return plan_decoder(GgufFile(temporary.path()));
}

bool left_to_llama(const GgufBytes& file, const std::string& reason) {
  return plan(file).obstacle.find(reason) != std::string::npos;
}

// Computes a few tokens with what was read.
void compute(std::shared_ptr<const decoder::DecoderWeights> weights) {
  const decoder::DecoderShape& shape = weights->shape;
  decoder::KvCache cache({shape.layers, shape.kv_heads, shape.head}, 32, 1);
  decoder::Team team(1);
  decoder::Forward forward(weights, cache, team, 4, 1);
  const auto last = static_cast<std::int32_t>(shape.vocabulary - 1);
  const std::array<decoder::Row, 3> rows{{{0, 0, 0, false}, {last, 1, 0, false}, {last, 2, 0, true}}};
  REQUIRE(cache.extend(0, rows.size()));
  team.begin(1, nullptr);
  CHECK(forward.compute(rows));
  CHECK_EQ(forward.logits(2).size(), shape.vocabulary);
}

}  // namespace

TEST("decoder file: plain models of the known architectures are read and computed") {
  for (const char* architecture : {"llama", "qwen2", "gemma"}) {
    const TemporaryFile temporary(small_decoder(architecture).bytes());
    const GgufFile file(temporary.path());
    const DecoderPlan found = plan_decoder(file);
    CHECK_EQ(found.obstacle, std::string());
    CHECK_EQ(found.shape.head, std::size_t{kWidth / 2});
    CHECK(found.weight_bytes > 0);
    compute(read_decoder(file, {}));
  }
}

TEST("decoder file: whatever it does not know is left to llama.cpp") {
  CHECK(left_to_llama(small_decoder("phi3"), "architecture is 'phi3'"));
  CHECK(left_to_llama(small_decoder("llama").u32("llama.attention.scale", 1), "'llama.attention.scale' is unknown"));
  CHECK(left_to_llama(small_decoder("llama").u32("llama.expert_count", 4), "expert_count"));
  CHECK(left_to_llama(small_decoder("llama").text("llama.rope.scaling.type", "yarn"), "scaled"));
  CHECK(left_to_llama(small_decoder("llama").f32("llama.rope.scaling.factor", 2), "scaled"));
  CHECK(left_to_llama(small_decoder("llama").tensor("blk.0.attn_output.bias", {kWidth}), "'blk.0.attn_output.bias'"));
  CHECK(left_to_llama(small_decoder("qwen3"), "attn_q_norm"));
  CHECK(left_to_llama(small_decoder("llama").without("blk.1.ffn_up.weight"), "'blk.1.ffn_up.weight' is missing"));
  CHECK(left_to_llama(small_decoder("llama").without("output_norm.weight").tensor("output_norm.weight", {kWidth + 1}),
                      "unexpected shape"));
  CHECK(left_to_llama(small_decoder("llama").u32("llama.attention.key_length", 3), "heads is unusual"));
  CHECK(left_to_llama(small_decoder("llama").u32("llama.attention.value_length", 4), "other sizes"));
  CHECK(left_to_llama(small_decoder("llama").u32("llama.attention.head_count_kv", 0), "unusual"));
  CHECK(left_to_llama(small_decoder("llama").text("llama.rope.freq_base", "high"), "llama.rope.freq_base"));
  constexpr std::uint32_t kQ2K = 10;
  CHECK(left_to_llama(small_decoder("llama").without("output_norm.weight").tensor("output_norm.weight", {256}, kQ2K),
                      "unexpected shape"));
}

namespace {

// Changes some bytes, or cuts the end off.
void mutate(std::string& bytes, std::mt19937_64& random) {
  for (std::size_t changes = 1 + random() % 3; changes-- > 0;) {
    // Mostly in the header, where the sizes are.
    const std::size_t at = random() % (random() % 8 == 0 ? bytes.size() : std::size_t{1500});
    bytes[at] = static_cast<char>(random() % 4 == 0 ? random() : bytes[at] ^ (1 << random() % 8));
  }
  if (random() % 16 == 0) bytes.resize(random() % bytes.size());
}

}  // namespace

TEST("decoder file: no change of its bytes makes the reader or the computation leave their bounds") {
  std::mt19937_64 random(test::seed());
  const std::string whole = small_decoder("llama").bytes();
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    mutate(bytes, random);
    const TemporaryFile temporary(bytes);
    try {
      const GgufFile file(temporary.path());
      if (!plan_decoder(file).suited()) continue;
      compute(read_decoder(file, {}));
      ++read;
    } catch (const Error&) {
    }
  }
  CHECK(read > 100);
}

TEST("decoder file: no write to it while it is read makes the reader or the computation leave their bounds") {
  std::mt19937_64 random(test::seed());
  const std::string whole = small_decoder("llama").bytes();
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    const TemporaryFile temporary(whole);
    const GgufFile file(temporary.path());
    std::string bytes = whole;
    mutate(bytes, random);
    std::filesystem::resize_file(temporary.path(), bytes.size());
    std::fstream(temporary.path(), std::ios::in | std::ios::out | std::ios::binary) << bytes;
    try {
      if (!plan_decoder(file).suited()) continue;
      compute(read_decoder(file, {}));
      ++read;
    } catch (const Error&) {
    }
  }
  CHECK(read > 100);
}
