#include "engine/gguf_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <system_error>

#include "core/files/utf8_path.h"
#include "core/values/error.h"

namespace lorekeep::engine {
namespace {

constexpr std::uint64_t kMaxParts = 999;
constexpr std::string_view kPartCount = "split.count";
constexpr std::string_view kPartNumber = "split.no";  // from 0
constexpr std::string_view kTensorCount = "split.tensors.count";

std::string part_suffix(std::uint64_t number, std::uint64_t count) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "-%05u-of-%05u.gguf", static_cast<unsigned>(number),
                static_cast<unsigned>(count));
  return text.data();
}

std::filesystem::path part_path(const std::string& stem, std::uint64_t number, std::uint64_t count) {
  return path_of_utf8(stem + part_suffix(number, count));
}

// llama.cpp asserts that numbers of parts have this type.
std::uint64_t part_key(const GgufPart& part, std::string_view key) {
  const GgufValue* value = part.find(key);
  if (value == nullptr || value->array || value->type != GgufType::kUint16)
    part.refuse("a part of a split model whose key '" + std::string(key) + "' is not a 16-bit number");
  return *part.integer(key);
}

std::unique_ptr<const GgufPart> open_part(const std::filesystem::path& path, std::uint64_t number,
                                          std::uint64_t count) {
  try {
    return std::make_unique<const GgufPart>(path);
  } catch (const Error& error) {
    if (error.code() != Code::kNotFound) throw;
    fail_file(Code::kNotFound, utf8_path(path),
              "part " + std::to_string(number) + " of " + std::to_string(count) + " of a split model is missing");
  }
}

}  // namespace

GgufFile::GgufFile(const std::filesystem::path& path) {
  parts_.push_back(std::make_unique<const GgufPart>(path));
  if (integer(kPartCount).value_or(1) > 1) open_parts(path);
  index_tensors();
}

void GgufFile::open_parts(const std::filesystem::path& first) {
  const std::uint64_t count = part_key(*parts_.front(), kPartCount);
  const std::uint64_t number = part_key(*parts_.front(), kPartNumber);
  const std::string which = "part " + std::to_string(number + 1) + " of " + std::to_string(count) + " of a split model";
  if (count > kMaxParts) refuse(which + "; at most " + std::to_string(kMaxParts) + " parts are read");
  if (number != 0) refuse(which + "; name the first part, which ends in " + part_suffix(1, count));
  const std::string path = utf8_path(first);
  const std::string suffix = part_suffix(1, count);
  if (!path.ends_with(suffix))
    refuse(which + "; its name must end in " + suffix + ", so that the other parts can be found");
  const std::string stem = path.substr(0, path.size() - suffix.size());
  for (std::uint64_t i = 1; i < count; ++i) {
    const GgufPart& part = *parts_.emplace_back(open_part(part_path(stem, i + 1, count), i + 1, count));
    if (part_key(part, kPartCount) != count || part_key(part, kPartNumber) != i)
      part.refuse("its part number contradicts its name");
  }
}

void GgufFile::index_tensors() {
  for (const auto& part : parts_) {
    for (const GgufTensor& tensor : part->tensors()) {
      if (!tensor_by_name_.emplace(tensor.name, tensors_.size()).second)
        part->refuse("damaged: tensor " + quoted(tensor.name) + " appears twice");
      tensors_.push_back(tensor);
    }
  }
  if (tensors_.empty()) refuse("the file holds no tensors (a vocabulary without a model?)");
  if (tensors_.size() > kMaxTensors)
    refuse("damaged: its parts hold more than " + std::to_string(kMaxTensors) + " tensors");
  if (parts_.size() > 1 && integer(kTensorCount) != tensors_.size()) {
    refuse("its parts hold " + std::to_string(tensors_.size()) + " tensors, not the number that its key '" +
           std::string(kTensorCount) + "' says");
  }
}

std::uint64_t GgufFile::size() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& part : parts_) sum += part->bytes().size();
  return sum;
}

void GgufFile::check_unchanged() const {
  for (const auto& part : parts_) {
    part->file().check_unchanged();
    part->file().check_same_at_path();
  }
}

void GgufFile::check_mapped() const {
  for (const auto& part : parts_) part->file().check_unchanged();
}

void GgufFile::forget() const noexcept {
  for (const auto& part : parts_) part->file().forget(part->bytes());
}

const MappedFile& GgufFile::file_of(const GgufTensor& tensor) const noexcept {
  const auto has = [&tensor](const std::unique_ptr<const GgufPart>& part) {
    const std::less<> before;
    const std::byte* const begin = part->bytes().data();
    return !before(tensor.bytes.data(), begin) && before(tensor.bytes.data(), begin + part->bytes().size());
  };
  return (*std::ranges::find_if(parts_, has))->file();
}

void GgufFile::check_present(const Error& failure) const {
  if (failure.code() != Code::kModelInvalid && failure.code() != Code::kNotFound) return;
  for (const auto& part : parts_) {
    std::error_code unknown;
    const std::string& name = part->file().name();
    if (std::filesystem::status(path_of_utf8(name), unknown).type() == std::filesystem::file_type::not_found)
      fail_file(Code::kNotFound, name, "the file was removed while it was loaded");
    part->file().check_same_at_path();
  }
}

const GgufTensor* GgufFile::tensor(std::string_view name) const noexcept {
  const auto found = tensor_by_name_.find(name);
  return found == tensor_by_name_.end() ? nullptr : &tensors_[found->second];
}

std::vector<std::string_view> GgufFile::keys() const {
  std::vector<std::string_view> names;
  names.reserve(parts_.front()->metadata().size());
  for (const auto& [name, value] : parts_.front()->metadata()) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

std::optional<std::string_view> GgufFile::string(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->array || value->type != GgufType::kString) refuse("key " + quoted(key) + " is not a string");
  return std::string_view(reinterpret_cast<const char*>(value->bytes.data()) + 8, value->bytes.size() - 8);
}

std::optional<double> GgufFile::number(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  double number;
  if (!value->array && value->type == GgufType::kFloat32) {
    number = load_number<float>(value->bytes);
  } else if (!value->array && value->type == GgufType::kFloat64) {
    number = load_number<double>(value->bytes);
  } else {
    refuse("key " + quoted(key) + " is not a floating-point number");
  }
  if (!std::isfinite(number)) refuse("key " + quoted(key) + " is not a finite number");
  return number;
}

std::optional<std::vector<std::string_view>> GgufFile::strings(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->array || value->type != GgufType::kString) refuse("key " + quoted(key) + " is not an array of strings");
  std::vector<std::string_view> strings;
  strings.reserve(static_cast<std::size_t>(value->count));
  auto rest = value->bytes;
  for (std::uint64_t i = 0; i < value->count; ++i) {
    // Checked again, because another program may have written to the file.
    const std::uint64_t size = rest.size() < 8 ? 0 : load_number<std::uint64_t>(rest);
    if (rest.size() < 8 || size > rest.size() - 8) refuse("key " + quoted(key) + " was changed while it was read");
    strings.emplace_back(reinterpret_cast<const char*>(rest.data()) + 8, static_cast<std::size_t>(size));
    rest = rest.subspan(8 + static_cast<std::size_t>(size));
  }
  return strings;
}

}  // namespace lorekeep::engine
