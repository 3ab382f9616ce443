#include "engine/model_profile.h"

#include "engine/profile_checks.h"

#include "gguf_bytes.h"
#include "harness.h"

using namespace lorekeep;
using namespace lorekeep::engine;
using lorekeep::test::GgufBytes;
using lorekeep::test::small_bert;
using lorekeep::test::TemporaryFile;

namespace {

ModelProfile profile(const GgufBytes& file, std::optional<Pooling> pooling = std::nullopt) {
  const TemporaryFile temporary(file.bytes());
  return profile_model(GgufFile(temporary.path()), pooling);
}

GgufBytes small_decoder() {
  GgufBytes file = small_bert();
  file.text("general.architecture", "qwen3")
      .u32("qwen3.context_length", 32)
      .u32("qwen3.embedding_length", 8)
      .u32("qwen3.feed_forward_length", 16)
      .u32("qwen3.block_count", 1)
      .u32("qwen3.attention.head_count", 2);
  return file;
}

std::string fingerprint(const GgufBytes& file, Pooling pooling) {
  const TemporaryFile temporary(file.bytes());
  return fingerprint_model(GgufFile(temporary.path()), pooling, nullptr, {});
}

}  // namespace

TEST("the profile of a bert is what its keys say") {
  const ModelProfile found = profile(small_bert());
  CHECK_EQ(found.architecture, "bert");
  CHECK_EQ(found.dimension, 8u);
  CHECK_EQ(found.training_context, 16u);
  CHECK(found.pooling == Pooling::kCls);
  CHECK_EQ(found.parameters, 8u * 6 + 8);
  CHECK_EQ(found.name, std::string("small"));
  CHECK_EQ(profile(small_bert().text("general.name", "Tiny")).name, "Tiny");
}

TEST("pooling comes from the caller, then from the file, then is the mean for encoders") {
  CHECK(profile(small_bert(), Pooling::kLast).pooling == Pooling::kLast);
  CHECK(profile(small_bert().without("bert.pooling_type")).pooling == Pooling::kMean);
  CHECK(profile(small_decoder().u32("qwen3.pooling_type", 3)).pooling == Pooling::kLast);
  CHECK(profile(small_decoder(), Pooling::kLast).pooling == Pooling::kLast);
}

TEST("a generation-only model is refused with the way out") {
  CHECK_FAILS(Code::kModelInvalid, profile(small_decoder()));
  CHECK_FAILS(Code::kModelInvalid, profile(small_decoder().u32("qwen3.pooling_type", 0)));
  try {
    profile(small_decoder());
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("pass the pooling") != std::string::npos);
  }
}

TEST("rerankers, unknown architectures and unknown tokenizers are unsupported") {
  CHECK_FAILS(Code::kUnsupported, profile(small_bert().u32("bert.pooling_type", 4)));
  CHECK_FAILS(Code::kUnsupported, profile(small_bert().text("general.architecture", "mamba")));
  CHECK_FAILS(Code::kUnsupported, profile(small_bert().text("tokenizer.ggml.model", "rwkv")));
}

TEST("keys that are missing or contradict each other are refused") {
  for (const char* key :
       {"general.architecture", "bert.context_length", "bert.embedding_length", "bert.feed_forward_length",
        "bert.block_count", "bert.attention.head_count", "tokenizer.ggml.model", "tokenizer.ggml.tokens"}) {
    CHECK_FAILS(Code::kModelInvalid, profile(small_bert().without(key)));
  }
  for (const char* key : {"bert.context_length", "bert.embedding_length", "bert.block_count",
                          "bert.attention.head_count", "bert.attention.head_count_kv", "bert.attention.key_length"}) {
    CHECK_FAILS(Code::kModelInvalid, profile(small_bert().u32(key, 0)));
    CHECK_FAILS(Code::kModelInvalid, profile(small_bert().u32(key, 0xFFFFFFFF)));
  }
  CHECK_FAILS(Code::kModelInvalid, profile(small_bert().u32("bert.attention.head_count", 3)));
  CHECK_FAILS(Code::kModelInvalid, profile(small_bert().u32("bert.attention.key_length", 2)));
  CHECK_FAILS(Code::kModelInvalid, profile(small_bert().u32("bert.expert_count", 8)));
  CHECK_FAILS(Code::kModelInvalid, profile(small_bert().text("bert.rope.scaling.type", "cubic")));
  CHECK_FAILS(Code::kModelInvalid, profile(small_bert().f32("bert.attention.layer_norm_epsilon", -1.0f)));
  CHECK_FAILS(Code::kModelInvalid,
              profile(small_bert().f32("bert.rope.freq_base", std::numeric_limits<float>::quiet_NaN())));
}

TEST("a vocabulary with a token twice is refused, also when a NUL or emptiness hides it") {
  const auto with = [](std::vector<std::string> tokens) { return small_bert().texts("tokenizer.ggml.tokens", tokens); };
  CHECK_FAILS(Code::kModelInvalid, profile(with({})));
  CHECK_FAILS(Code::kModelInvalid, profile(with({"a", "b", "a"})));
  CHECK_FAILS(Code::kModelInvalid, profile(with({"a", "b", std::string("a\0c", 3)})));
  CHECK_FAILS(Code::kModelInvalid, profile(with({"[EMPTY_1]", ""})));
  CHECK_EQ(profile(with({"", "a"})).dimension, 8u);
}

TEST("norms and biases that are not F32 are refused") {
  CHECK_FAILS(Code::kModelInvalid, profile(small_bert().tensor("token_embd_norm.weight", {8}, 1)));
}

TEST("fingerprints differ by content and pooling, not by name") {
  const std::string one = fingerprint(small_bert(), Pooling::kMean);
  CHECK_EQ(one.size(), 16u);
  CHECK_EQ(one, fingerprint(small_bert(), Pooling::kMean));
  CHECK(one != fingerprint(small_bert(), Pooling::kCls));
  CHECK(one != fingerprint(small_bert().text("general.name", "other"), Pooling::kMean));
}

TEST("fingerprinting can be cancelled") {
  const TemporaryFile temporary(small_bert().bytes());
  const GgufFile file(temporary.path());
  CancelToken cancel;
  cancel.cancel();
  CHECK_FAILS(Code::kCancelled, fingerprint_model(file, Pooling::kMean, &cancel, {}));
}

TEST("a BPE file without its pre-tokenizer is told apart") {
  const auto note = [](const GgufBytes& file) {
    const TemporaryFile temporary(file.bytes());
    return tokenizer_note(GgufFile(temporary.path()));
  };
  CHECK_EQ(note(small_bert()), std::string());
  const auto bpe = [] { return small_decoder().text("tokenizer.ggml.model", "gpt2"); };
  CHECK(note(bpe()).find("tokenizer.ggml.pre") != std::string::npos);
  CHECK(!note(bpe().text("tokenizer.ggml.pre", "default")).empty());
  CHECK_EQ(note(bpe().text("tokenizer.ggml.pre", "qwen2")), std::string());
}
