#include <span>
#include <string>
#include <vector>

#include "engine/gguf_file.h"
#include "engine/model_profile.h"
#include "gguf_bytes.h"
#include "harness.h"
#include "scratch_folder.h"

using namespace lorekeep;
using namespace lorekeep::engine;
using lorekeep::test::GgufBytes;
using lorekeep::test::ScratchFolder;
using lorekeep::test::small_bert;
using lorekeep::test::TemporaryFile;

namespace {

GgufBytes bert() {
  return small_bert().tensor("blk.0.one.weight", {8, 3}).tensor("blk.0.two.weight", {8, 5});
}

/// A folder with the parts of a split model.
class Parts {
 public:
  explicit Parts(const std::vector<GgufBytes>& parts) : count_(parts.size()) {
    for (std::size_t i = 0; i < parts.size(); ++i) put(i, parts[i].bytes());
  }

  std::filesystem::path path(std::size_t index) const {
    const std::u8string stem = u8"m\u00FC der-0000";
    const std::string end = std::to_string(index + 1) + "-of-0000" + std::to_string(count_) + ".gguf";
    return folder_ / std::filesystem::path(stem + std::u8string(end.begin(), end.end()));
  }
  void put(std::size_t index, const std::string& bytes) const {
    test::write_file(path(index), std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  }
  GgufFile open() const { return GgufFile(path(0)); }

 private:
  ScratchFolder folder_;
  std::size_t count_;
};

std::string message_of(const Parts& parts, std::size_t opened = 0) {
  try {
    const GgufFile file(parts.path(opened));
  } catch (const Error& error) {
    return std::string(code_name(error.code())) + ": " + error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST("the parts of a split model are read as one model") {
  const TemporaryFile whole_file(bert().bytes());
  const GgufFile whole(whole_file.path());
  for (const std::size_t first : {0, 1, 3}) {
    const Parts parts(bert().split(3, first));
    const GgufFile file = parts.open();
    CHECK_EQ(file.parts().size(), 3u);
    CHECK_EQ(file.tensors().size(), whole.tensors().size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 3; ++i) bytes += std::filesystem::file_size(parts.path(i));
    CHECK_EQ(file.size(), bytes);
    for (const GgufTensor& tensor : whole.tensors()) {
      REQUIRE(file.tensor(tensor.name) != nullptr);
      CHECK_EQ(file.tensor(tensor.name)->bytes.size(), tensor.bytes.size());
    }
    const ModelProfile profile = profile_model(file, std::nullopt);
    CHECK_EQ(profile.parameters, profile_model(whole, std::nullopt).parameters);
    file.check_unchanged();
  }
}

TEST("a missing part is named") {
  const Parts parts(bert().split(3));
  std::filesystem::remove(parts.path(1));
  const std::string message = message_of(parts);
  CHECK(has(message, "NOT_FOUND") && has(message, "00002-of-00003") && has(message, "part 2 of 3"));
}

TEST("another part than the first is refused with the first one's name") {
  const Parts parts(bert().split(2));
  CHECK(has(message_of(parts, 1), "MODEL_INVALID"));
  CHECK(has(message_of(parts, 1), "-00001-of-00002.gguf"));
}

TEST("a first part under another name is refused with the name that it must have") {
  const TemporaryFile renamed(bert().split(2)[0].bytes());
  CHECK_FAILS(Code::kModelInvalid, GgufFile(renamed.path()));
}

TEST("parts that contradict each other are refused") {
  const std::vector<GgufBytes> right = bert().split(3);
  const auto refused = [&](std::size_t index, GgufBytes part) {
    const Parts parts(right);
    parts.put(index, part.bytes());
    return has(message_of(parts), "MODEL_INVALID");
  };
  CHECK(refused(1, right[2]));                                                // two parts in the wrong order
  CHECK(refused(1, bert()));                                                  // no part at all
  CHECK(refused(1, GgufBytes(right[1]).u16("split.count", 4)));               // of another split
  CHECK(refused(1, GgufBytes(right[1]).u32("split.no", 1)));                  // a type for which llama.cpp aborts
  CHECK(refused(1, GgufBytes(right[1]).without("split.no")));                 // without a number
  CHECK(refused(1, GgufBytes(right[1]).tensor("blk.0.one.weight", {8, 3})));  // a tensor in two parts
  CHECK(refused(2, GgufBytes(right[2]).tensor("more", {8})));                 // a tensor too many
  CHECK(refused(0, GgufBytes(right[0]).u16("split.count", 60000)));           // parts that cannot be
  CHECK(refused(0, GgufBytes(right[0]).u32("split.count", 3)));
  CHECK(refused(0, GgufBytes(right[0]).without("split.no")));
  CHECK(refused(0, GgufBytes(right[0]).without("split.tensors.count")));
}

TEST("a part that changes while the model is open is noticed") {
  const Parts parts(bert().split(3));
  const GgufFile file = parts.open();
  file.check_unchanged();
  std::filesystem::resize_file(parts.path(2), std::filesystem::file_size(parts.path(2)) - 1);
  CHECK_FAILS(Code::kCorrupt, file.check_unchanged());
}

TEST("every part counts for the fingerprint") {
  const Parts parts(bert().split(3));
  const auto print = [&] { return fingerprint_model(parts.open(), Pooling::kMean, nullptr, {}); };
  const std::string before = print();
  CHECK_EQ(before, print());
  std::string changed = bert().split(3)[2].bytes();
  changed.back() = 'x';
  parts.put(2, changed);
  CHECK(before != print());
}

TEST("a part cut at any byte is refused") {
  const std::vector<GgufBytes> all = bert().split(2);
  const Parts parts(all);
  const std::string bytes = all[1].bytes();
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    parts.put(1, bytes.substr(0, size));
    if (has(message_of(parts), "MODEL_INVALID")) ++refused;
  }
  CHECK_EQ(refused, bytes.size());
}
