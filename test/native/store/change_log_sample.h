// Writes change logs in memory, byte by byte as docs/internals/file-formats.md describes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/change_log.h"

namespace lorekeep::store {

class SampleLog {
 public:
  static constexpr std::uint32_t kDimension = 2;
  static constexpr std::uint64_t kId = 77;

  explicit SampleLog(std::uint64_t base_version = 0, std::uint64_t id = kId) : version_(base_version), id_(id) {
    ChangeLogHeader header{};
    header.magic = kChangeLogMagic;
    header.version = kChangeLogVersion;
    header.dimension = kDimension;
    header.id = id;
    header.base_version = base_version;
    append(&header, sizeof(header));
    seal_header(std::span(bytes));
  }

  SampleLog& put(const std::string& id, const std::string& text, float first = 1) {
    return put_json(id, R"({"id":")" + id + R"(","text":")" + text + "\"}", first);
  }
  SampleLog& put_json(const std::string& id, const std::string& json, float first = 1) {
    const LoggedOperation operation{ChangeKind::kPut, size_of(id), size_of(json), 0};
    const float vector[kDimension] = {first, 0};
    add(operation, {reinterpret_cast<const char*>(vector), sizeof(vector)}, id + json);
    return *this;
  }
  SampleLog& remove(const std::string& id) {
    add({ChangeKind::kRemove, size_of(id), 0, 0}, {}, id);
    return *this;
  }
  /// Ends a batch. `durable`: bytes on the device by then; by default all bytes before the batch.
  SampleLog& end(std::uint64_t durable = UINT64_MAX) {
    write(FrameKind::kBatch, ++version_, durable == UINT64_MAX ? bytes.size() : durable);
    return *this;
  }
  SampleLog& merge(MergeMark mark, std::uint64_t version) {
    payload_.assign(reinterpret_cast<const std::byte*>(&mark), reinterpret_cast<const std::byte*>(&mark + 1));
    write(FrameKind::kMerge, version, bytes.size());
    return *this;
  }

  std::vector<std::byte> bytes;

 private:
  static std::uint32_t size_of(const std::string& text) { return static_cast<std::uint32_t>(text.size()); }

  void append(const void* data, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
  }
  void add(const LoggedOperation& operation, std::string_view vector, const std::string& texts) {
    std::string all(reinterpret_cast<const char*>(&operation), sizeof(operation));
    all += vector;
    all += texts;
    all.resize((all.size() + 7) / 8 * 8);
    const auto* from = reinterpret_cast<const std::byte*>(all.data());
    payload_.insert(payload_.end(), from, from + all.size());
    ++operations_;
  }
  void write(FrameKind kind, std::uint64_t version, std::uint64_t durable) {
    ChangeFrame frame{};
    frame.magic = kFrameMagic;
    frame.kind = kind;
    frame.version = version;
    frame.time = 1'000'000;
    frame.durable = durable;
    frame.size = payload_.size();
    frame.operations = operations_;
    const std::size_t begin = bytes.size();
    append(&frame, sizeof(frame));
    append(payload_.data(), payload_.size());
    seal_frame(std::span(bytes).subspan(begin), id_);
    payload_.clear();
    operations_ = 0;
  }

  std::uint64_t version_;
  std::uint64_t id_;
  std::vector<std::byte> payload_;
  std::uint32_t operations_ = 0;
};

}  // namespace lorekeep::store
