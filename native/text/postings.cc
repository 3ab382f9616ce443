#include "text/postings.h"

#include <span>

namespace lorekeep::text {
namespace {

template <class T>
void append(std::vector<std::byte>& out, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

void TermEncoder::start(std::string_view term) {
  term_ = term;
  documents_ = 0;
  blocks_.clear();
  impacts_.clear();
  sizes_.clear();
  bodies_.clear();
}

void TermEncoder::add(std::uint32_t block, std::uint32_t documents, std::uint8_t impact, const std::byte* body,
                      std::size_t size) {
  documents_ += documents;
  blocks_.push_back(block);
  impacts_.push_back(impact);
  sizes_.push_back(static_cast<std::uint8_t>(size));
  bodies_.insert(bodies_.end(), body, body + size);
}

void TermEncoder::finish(std::vector<std::byte>& out) {
  payload_.clear();
  write_varint(payload_, term_.size());
  append(payload_, std::span(term_.data(), term_.size()));
  write_varint(payload_, documents_);
  write_varint(payload_, blocks_.size());
  if (is_dense(static_cast<std::uint32_t>(blocks_.size()), index_blocks_)) {
    write_dense_directory();
  } else {
    write_sparse_directory();
  }
  write_varint(out, payload_.size() + bodies_.size());
  append(out, std::span<const std::byte>(payload_));
  append(out, std::span<const std::byte>(bodies_));
}

void TermEncoder::write_sparse_directory() {
  append(payload_, std::span<const std::uint8_t>(impacts_));
  append(payload_, std::span<const std::uint8_t>(sizes_));
  std::uint32_t next = 0;
  for (const std::uint32_t block : blocks_) {
    write_varint(payload_, block - next);
    next = block + 1;
  }
}

void TermEncoder::write_dense_directory() {
  const std::uint32_t rows = dense_rows(index_blocks_);
  const std::size_t impacts = payload_.size();
  const std::size_t sizes = impacts + rows;
  payload_.resize(sizes + rows);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    payload_[impacts + blocks_[i]] = std::byte{impacts_[i]};
    payload_[sizes + blocks_[i]] = std::byte{sizes_[i]};
  }
  std::uint32_t start = 0;
  for (std::uint32_t block = 0; block < rows; ++block) {
    if (block % kBlocksPerStart == 0) append(payload_, std::span<const std::uint32_t>(&start, 1));
    start += std::to_integer<std::uint32_t>(payload_[sizes + block]);
  }
}

}  // namespace lorekeep::text
