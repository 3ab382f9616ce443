#include "engine/gguf_file.h"

#include <cstring>

#include "gguf_bytes.h"
#include "harness.h"

using namespace lorekeep;
using namespace lorekeep::engine;
using lorekeep::test::GgufBytes;
using lorekeep::test::small_bert;
using lorekeep::test::TemporaryFile;

namespace {

// Reads all bytes of the file's tensors and keys, so that a wrong extent crashes here.
std::size_t touch(const std::string& bytes) {
  const TemporaryFile temporary(bytes);
  const GgufFile file(temporary.path());
  std::size_t sum = 0;
  for (const GgufTensor& tensor : file.tensors()) {
    for (std::byte byte : tensor.bytes) sum += static_cast<std::size_t>(byte);
    sum += tensor.name.size();
  }
  if (const GgufValue* tokens = file.find("tokenizer.ggml.tokens");
      tokens != nullptr && tokens->array && tokens->type == GgufType::kString) {
    const auto strings = file.strings("tokenizer.ggml.tokens");
    for (std::string_view token : *strings) sum += token.size();
  }
  return sum;
}

bool accepted_or_refused(const std::string& bytes) {
  try {
    touch(bytes);
    return true;
  } catch (const Error& error) {
    return error.code() == Code::kModelInvalid;
  }
}

std::string with_u64(std::string bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

}  // namespace

TEST("a GGUF file gives back its keys and tensors") {
  const TemporaryFile temporary(small_bert().bytes());
  const GgufFile file(temporary.path());
  CHECK_EQ(std::string(file.string("general.architecture").value_or("")), "bert");
  CHECK_EQ(file.integer("bert.embedding_length").value_or(0), 8u);
  CHECK_NEAR(file.number("bert.attention.layer_norm_epsilon").value_or(0), 1e-12, 1e-18);
  CHECK(!file.integer("absent"));
  const auto tokens = file.strings("tokenizer.ggml.tokens");
  REQUIRE(tokens.has_value());
  CHECK_EQ(tokens->size(), 6u);
  CHECK_EQ(std::string((*tokens)[3]), "[SEP]");
  REQUIRE(file.tensor("token_embd.weight") != nullptr);
  CHECK_EQ(file.tensor("token_embd.weight")->shape[1], 6u);
  CHECK_EQ(file.tensor("token_embd.weight")->bytes.size(), 8u * 6 * 4);
  CHECK(file.tensor("absent") == nullptr);
}

TEST("a value of another kind than asked for is refused by name") {
  const TemporaryFile temporary(small_bert().bytes());
  const GgufFile file(temporary.path());
  CHECK_FAILS(Code::kModelInvalid, file.integer("general.architecture"));
  CHECK_FAILS(Code::kModelInvalid, file.string("bert.block_count"));
  CHECK_FAILS(Code::kModelInvalid, file.number("tokenizer.ggml.tokens"));
  CHECK_FAILS(Code::kModelInvalid, file.strings("bert.block_count"));
}

TEST("files that are no GGUF files are refused") {
  CHECK_FAILS(Code::kModelInvalid, touch(""));
  CHECK_FAILS(Code::kModelInvalid, touch("GG"));
  CHECK_FAILS(Code::kModelInvalid, touch("PK\x03\x04 something else altogether, long enough to hold a header"));
  CHECK_FAILS(Code::kNotFound, GgufFile("/nonexistent/model.gguf"));
  CHECK_FAILS(Code::kIo, GgufFile(std::filesystem::temp_directory_path()));
}

TEST("another version and another byte order are named") {
  std::string bytes = small_bert().bytes();
  bytes[4] = 1;
  CHECK_FAILS(Code::kModelInvalid, touch(bytes));
  bytes[4] = 9;
  CHECK_FAILS(Code::kModelInvalid, touch(bytes));
  std::memcpy(bytes.data() + 4, "\0\0\0\x03", 4);
  CHECK_FAILS(Code::kModelInvalid, touch(bytes));
}

TEST("absurd counts and lengths are refused before anything is allocated for them") {
  const std::string bytes = small_bert().bytes();
  for (std::uint64_t absurd :
       {std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, 8, absurd)));   // tensors
    CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, 16, absurd)));  // keys
    CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, 24, absurd)));  // length of the first key
    const std::size_t tokens = bytes.find("tokenizer.ggml.tokens") + std::strlen("tokenizer.ggml.tokens");
    CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, tokens + 8, absurd)));   // length of the array
    CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, tokens + 16, absurd)));  // length of its first string
    const std::size_t shape = bytes.find("token_embd.weight") + std::strlen("token_embd.weight") + 4;
    CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, shape, absurd)));
    CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, shape + 8, absurd)));
  }
}

TEST("tensors that repeat, overlap, are empty or end after the file are refused") {
  CHECK_FAILS(Code::kModelInvalid, touch(small_bert().tensor("zero", {8, 0}).bytes()));
  CHECK_FAILS(Code::kModelInvalid, touch(small_bert().tensor("no dimensions", {}).bytes()));
  CHECK_FAILS(Code::kModelInvalid, touch(small_bert().tensor("five dimensions", {1, 1, 1, 1, 1}).bytes()));
  CHECK_FAILS(Code::kModelInvalid, touch(small_bert().tensor("removed", {32}, 4).bytes()));
  CHECK_FAILS(Code::kModelInvalid, touch(small_bert().tensor(std::string(64, 'x'), {8}).bytes()));
  CHECK_FAILS(Code::kModelInvalid,
              touch(small_bert().tensor("a row that is no multiple of the block", {8}, 8).bytes()));
  std::string bytes = small_bert().bytes();
  const std::size_t name = bytes.find("token_embd_norm.weight");
  CHECK_FAILS(Code::kModelInvalid, touch(with_u64(bytes, name + 22 + 4 + 8 + 4, 0)));  // the offset of the first tensor
  CHECK_FAILS(Code::kModelInvalid, touch(GgufBytes().text("general.architecture", "bert").bytes()));
}

TEST("a file cut at any byte is refused or whole") {
  const std::string bytes = small_bert().bytes();
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      touch(bytes.substr(0, size));
    } catch (const Error& error) {
      CHECK(error.code() == Code::kModelInvalid);
      ++refused;
    }
  }
  CHECK_EQ(refused, bytes.size());
}

TEST("a file with any byte changed is an error or a file, never a fault") {
  const std::string bytes = small_bert().bytes();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned char value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(value);
      CHECK(accepted_or_refused(changed));
    }
  }
}
