#include "speech/whisper_file.h"

#include <fstream>
#include <random>
#include <string>

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

// A file with the header of tiny.en and one-valued tensors: the check counts tensors, whisper.cpp knows their shapes.
std::string made() {
  Writer writer;
  writer.number(TensorFile::kMagic).numbers({51864, 1500, 384, 6, 4, 448, 384, 6, 4, 80, 1});
  writer.numbers({80, 201}).zeros(80 * 201 * 4);
  writer.number(2).number(1).text(" ").number(3).text("the");
  for (int i = 0; i < 11 + 4 * 15 + 4 * 24; ++i) {
    const std::string name = "tensor." + std::to_string(i);
    writer.numbers({1, static_cast<std::uint32_t>(name.size()), 0, 2}).text(name).zeros(8);
  }
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
