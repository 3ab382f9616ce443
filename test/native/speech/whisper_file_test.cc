#include "speech/whisper_file.h"

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/values/error.h"
#include "harness.h"
#include "scratch_folder.h"

namespace lorekeep::speech {
namespace {

class Writer {
 public:
  Writer& number(std::uint32_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Writer& numbers(std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values) number(value);
    return *this;
  }
  Writer& text(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  Writer& zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

struct Data {
  TensorType type;
  std::uint32_t values;
  std::string bytes;
};

// A file with the header of tiny.en and tensors of few values: the check counts tensors, whisper.cpp knows their
// shapes.
std::string made(const Data& last = {TensorType::kF32, 2, std::string(8, '\0')}) {
  Writer writer;
  writer.number(TensorFile::kMagic).numbers({51864, 1500, 384, 6, 4, 448, 384, 6, 4, 80, 1});
  writer.numbers({80, 201}).zeros(80 * 201 * 4);
  writer.number(2).number(1).text(" ").number(3).text("the");
  const int count = 11 + 4 * 15 + 4 * 24;
  for (int i = 0; i < count - 1; ++i) {
    const std::string name = "tensor." + std::to_string(i);
    writer.numbers({1, static_cast<std::uint32_t>(name.size()), 0, 2}).text(name).zeros(8);
  }
  const std::string name = "tensor." + std::to_string(count - 1);
  writer.numbers({1, static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(last.type), last.values});
  writer.text(name).text(last.bytes);
  return writer.take();
}

std::string refusal(const std::string& bytes) {
  const test::ScratchFolder folder;
  const auto path = folder.path() / "ggml.bin";
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    TensorFile file(path);
    check_whisper(file);
    return "";
  } catch (const Error& error) {
    CHECK(error.code() == Code::kModelInvalid);
    return error.what();
  }
}

std::string with(std::size_t number, std::uint32_t value) {
  std::string bytes = made();
  bytes.replace(4 * number, 4, reinterpret_cast<const char*>(&value), 4);
  return bytes;
}

TEST("a file of the right shape passes, and says what it is") {
  CHECK_EQ(refusal(made()), "");
}

TEST("numbers outside the shapes of Whisper are named") {
  CHECK(refusal(with(0, 1)).find("format") != std::string::npos);
  CHECK(refusal(with(1, 0xffffffff)).find("vocabulary") != std::string::npos);
  CHECK(refusal(with(3, 0)).find("width of the encoder") != std::string::npos);
  CHECK(refusal(with(4, 7)).find("heads") != std::string::npos);
  CHECK(refusal(with(10, 100)).find("mel") != std::string::npos);
  CHECK(refusal(with(11, 99)).find("file type") != std::string::npos);
  CHECK(refusal(with(12, 128)).find("mel") != std::string::npos);
}

TEST("whisper.cpp needs a token for a space, and mel filters that are numbers") {
  std::string bytes = made();
  const std::size_t space = 4 * (14 + 80 * 201 + 1) + 4;
  CHECK_EQ(bytes[space], ' ');
  bytes[space] = 'a';
  CHECK(refusal(bytes).find("space") != std::string::npos);
  CHECK(refusal(with(20, 0x7fc00000)).find("mel filters") != std::string::npos);
}

TEST("missing, repeated and cut tensors are refused") {
  const std::string good = made();
  CHECK(refusal(good.substr(0, good.size() - 30)).find("in the middle") != std::string::npos);
  std::string repeated = good;
  repeated.replace(repeated.rfind("tensor.166"), 10, "tensor.165");
  CHECK(refusal(repeated).find("twice") != std::string::npos);
}

TEST("values and scales that are not numbers are refused in every type of tensor") {
  struct Kind {
    TensorType type;
    std::uint32_t values;
    std::vector<std::size_t> ends;  // of the last bytes of the numbers in a block
  };
  const std::vector<Kind> kinds = {
      {TensorType::kF16, 1, {1}},         {TensorType::kQ4_0, 32, {1}},    {TensorType::kQ4_1, 32, {1, 3}},
      {TensorType::kQ5_0, 32, {1}},       {TensorType::kQ5_1, 32, {1, 3}}, {TensorType::kQ8_0, 32, {1}},
      {TensorType::kQ2_K, 256, {81, 83}}, {TensorType::kQ3_K, 256, {109}}, {TensorType::kQ4_K, 256, {1, 3}},
      {TensorType::kQ5_K, 256, {1, 3}},   {TensorType::kQ6_K, 256, {209}},
  };
  for (const Kind& kind : kinds) {
    const std::size_t block = tensor_bytes(static_cast<std::uint32_t>(kind.type), kind.values);
    const Data zeros{kind.type, 2 * kind.values, std::string(2 * block, '\0')};
    CHECK_EQ(refusal(made(zeros)), "");
    for (const std::size_t end : kind.ends) {
      for (const int value : {0x7c, 0x7e, 0xfc, 0xff}) {
        Data bad = zeros;
        bad.bytes[block + end] = static_cast<char>(value);
        CHECK(refusal(made(bad)).find("not numbers") != std::string::npos);
      }
    }
  }
  CHECK(refusal(made({TensorType::kF32, 1, std::string("\0\0\x80\x7f", 4)})).find("not numbers") != std::string::npos);
}

TEST("no damage is read beyond the file") {
  const std::string good = made();
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string bad = good;
    if (round % 3 == 0) bad.resize(random() % bad.size());
    for (int i = 0; i < 3 && !bad.empty(); ++i) {
      const bool head = round % 2 == 0;
      bad[head ? random() % std::min<std::size_t>(bad.size(), 60)
               : bad.size() - 1 - random() % std::min<std::size_t>(bad.size(), 6000)] = static_cast<char>(random());
    }
    refusal(bad);
  }
}

}  // namespace
}  // namespace lorekeep::speech
