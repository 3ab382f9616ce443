#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "core/files/section_file.h"
#include "harness.h"
#include "scratch_folder.h"

namespace lorekeep {
namespace {

namespace fs = std::filesystem;

constexpr Magic kMagic{{'L', 'K', 'T', 'E', 'S', 'T', '\0', '\0'}};
constexpr Magic kOtherMagic{{'L', 'K', 'O', 'T', 'H', 'E', 'R', '\0'}};

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, Magic magic = kMagic, const FileOwner* owner = nullptr) {
  SectionFileWriter(path, magic, 1, 0, 0, owner).commit();
}

TEST("what is absent, empty, or of the same kind is replaced") {
  const test::ScratchFolder folder;
  write(folder / "f");
  write(folder / "f");
  put(folder / "f", "");
  write(folder / "f");
  put(folder / "f", std::string("LKTEST\0\0damaged", 15));
  write(folder / "f");
  put(folder / "f", "LKT");
  write(folder / "f");
  CHECK_EQ(SectionFileReader(folder / "f", kMagic, 1).sections().size(), 0u);
}

TEST("a file of another kind is refused and stays") {
  const test::ScratchFolder folder;
  const std::string other(100, 'x');
  for (const std::string& text : {std::string("[]"), std::string("x"), std::string("LKTX"), other}) {
    put(folder / "f", text);
    CHECK_FAILS(Code::kInvalidArgument, write(folder / "f"));
    CHECK_EQ(content(folder / "f"), text);
  }
  fs::remove(folder / "f");
  write(folder / "f", kOtherMagic);
  const std::string before = content(folder / "f");
  CHECK_FAILS(Code::kInvalidArgument, write(folder / "f"));
  CHECK_EQ(content(folder / "f"), before);
  CHECK_EQ(folder.entries(), 1u);
}

TEST("a link, a folder, a pipe and a socket are refused, and nothing is opened") {
  const test::ScratchFolder folder;
  write(folder / "ours");
  fs::create_symlink("ours", folder / "link");
  fs::create_symlink("nothing", folder / "dangling");
  fs::create_directory(folder / "folder");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const int handle = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = folder / "socket";
  REQUIRE(name.size() < sizeof(address.sun_path));
  name.copy(address.sun_path, name.size());
  REQUIRE(::bind(handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  for (const char* target : {"link", "dangling", "folder", "pipe", "socket"}) {
    CHECK_FAILS(Code::kInvalidArgument, write(folder / target));
  }
  ::close(handle);
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK_EQ(folder.entries(), 6u);
}

TEST("what has come to the target while the file was written is refused at the rename") {
  const test::ScratchFolder folder;
  for (const bool there : {false, true}) {
    fs::remove(folder / "f");
    if (there) write(folder / "f");
    SectionFileWriter file(folder / "f", kMagic, 1, 0, 0);
    fs::remove(folder / "f");
    put(folder / "f", "somebody else's");
    CHECK_FAILS(Code::kInvalidArgument, file.commit());
    CHECK_EQ(content(folder / "f"), "somebody else's");
  }
  CHECK_EQ(folder.entries(), 1u);
}

TEST("a folder that is moved away while a file is written gets the file, and the new folder of its name does not") {
  const test::ScratchFolder folder;
  fs::create_directory(folder / "a");
  SectionFileWriter file(folder / "a" / "f", kMagic, 1, 0, 0);
  fs::rename(folder / "a", folder / "b");
  fs::create_directory(folder / "a");
  file.commit();
  CHECK(fs::exists(folder / "b" / "f"));
  CHECK(fs::is_empty(folder / "a"));
}

struct TwoBases {
  test::ScratchFolder folder;
  FileOwner one{folder / "one.json", folder / "one-records.json"};
  FileOwner two{folder / "two.json", folder / "two-records.json"};
  TwoBases() {
    for (const auto& owner : {one, two}) {
      put(owner.config, "{}");
      put(owner.records, "[]");
    }
  }
};

TEST("a file of another knowledge base is refused, and the refusal names that one") {
  const TwoBases bases;
  const fs::path target = bases.folder / "f";
  write(target, kMagic, &bases.one);
  write(target, kMagic, &bases.one);
  const std::string before = content(target);
  try {
    write(target, kMagic, &bases.two);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.code() == Code::kInvalidArgument);
    CHECK(std::string(error.what()).find("one.json") != std::string::npos);
  }
  CHECK_EQ(content(target), before);
}

TEST("a file keeps its knowledge base when the config or the records get another name, or when the folder moves") {
  const TwoBases bases;
  const fs::path target = bases.folder / "f";
  write(target, kMagic, &bases.one);
  const FileOwner other_records{bases.one.config, bases.two.records};
  write(target, kMagic, &other_records);
  const FileOwner other_config{bases.two.config, bases.two.records};
  write(target, kMagic, &other_config);  // the same records
  write(target, kMagic, &bases.two);
  fs::remove(bases.two.config);  // nobody's
  write(target, kMagic, &bases.one);
  fs::create_directory(bases.folder / "sub");
  fs::rename(target, bases.folder / "sub" / "f");
  fs::copy(bases.one.config, bases.folder / "sub");
  const FileOwner moved{bases.folder / "sub" / "one.json", bases.two.records};
  write(bases.folder / "sub" / "f", kMagic, &moved);
}

TEST("a file that does not say whose it is, or is damaged, is anybody's of its kind") {
  const TwoBases bases;
  const fs::path target = bases.folder / "f";
  write(target);
  write(target, kMagic, &bases.two);
  std::string bytes = content(target);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put(target, bytes);
  write(target, kMagic, &bases.one);
}

/// A file of a kind that is remade, with one section.
std::string remade(const fs::path& path, Magic magic = kMagic, const FileOwner* owner = nullptr) {
  SectionFileWriter file(path, magic, 1, 0, 1, owner, Damaged::kRemade);
  file.begin(1);
  file.write_array(std::span("content of the section", 22));
  file.commit();
  return content(path);
}

/// Whether a file of a kind that is remade replaces `text`; if not, that it stays.
bool is_remade(const fs::path& path, const std::string& text, const FileOwner* owner = nullptr) {
  put(path, text);
  try {
    remade(path, kMagic, owner);
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == Code::kInvalidArgument);
    CHECK_EQ(content(path), text);
    return false;
  }
}

TEST("a file that is remade is recognised with any byte flipped, any range zeroed, and cut anywhere") {
  const test::ScratchFolder folder;
  const fs::path target = folder / "f";
  const std::string whole = remade(target);
  CHECK_EQ(SectionFileReader(target, kMagic, 1).sections().back().id, kMarkSection);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    CHECK(is_remade(target, bytes));
    CHECK(is_remade(target, whole.substr(0, at)));
  }
  for (std::size_t begin = 0; begin < whole.size(); begin += 3) {
    for (std::size_t end = begin + 1; end <= whole.size(); end += 5) {
      std::string bytes = whole;
      bytes.replace(begin, end - begin, end - begin, '\0');
      CHECK(is_remade(target, bytes));
    }
  }
  for (const std::size_t size : {1u, 7u, 8u, 47u, 48u, 4096u, 3'000'000u}) {
    CHECK(is_remade(target, std::string(size, '\0')));
  }
}

TEST("a foreign file that resembles one that is remade stays") {
  const test::ScratchFolder folder;
  const fs::path target = folder / "f";
  const std::string other = remade(folder / "other", kOtherMagic);
  const std::string whole = remade(target);
  const std::string mark = whole.substr(whole.size() - sizeof(EndMark));
  std::string other_damaged = other;
  other_damaged[0] = '\0';
  const std::string text = "[{\"id\": \"1\", \"text\": \"night\"}]\n";
  for (const std::string& bytes :
       {other, other_damaged, text, text + mark, mark, std::string(8, '\0') + text, text + std::string(100, '\0'),
        std::string(2'000'000, '\0') + "x", "x" + whole, whole.substr(1), other + mark}) {
    CHECK(!is_remade(target, bytes));
  }
  // Kinds that are not remade say no to files of zeros, and to a damaged magic.
  for (const std::string& bytes : {std::string(100, '\0'), "X" + whole.substr(1)}) {
    put(target, bytes);
    CHECK_FAILS(Code::kInvalidArgument, write(target));
    CHECK_EQ(content(target), bytes);
  }
}

TEST("a file without a mark is recognised by the rest of its header, and one of another owner stays") {
  const TwoBases bases;
  const fs::path target = bases.folder / "f";
  write(target);
  std::string bytes = content(target);
  bytes[0] = '\0';
  CHECK(is_remade(target, bytes));
  bytes = remade(target, kMagic, &bases.one);
  bytes[0] = '\0';
  CHECK(!is_remade(target, bytes, &bases.two));
  CHECK(is_remade(target, bytes, &bases.one));
}

TEST("names of open files are resolved to the paths of the files") {
  const TwoBases bases;
  const fs::path target = bases.folder / "f";
  std::FILE* const config = std::fopen(bases.one.config.c_str(), "r");
  const FileOwner held{"/proc/self/fd/" + std::to_string(fileno(config)), bases.one.records};
  write(target, kMagic, &held);
  std::fclose(config);
  CHECK_FAILS(Code::kInvalidArgument, write(target, kMagic, &bases.two));
  write(target, kMagic, &bases.one);
}

}  // namespace
}  // namespace lorekeep
