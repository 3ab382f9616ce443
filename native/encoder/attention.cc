#include "encoder/attention.h"

#include <cmath>

#include "core/cpu/bf16.h"

namespace lorekeep::encoder {

void pack_keys(const float* keys, std::size_t stride, std::size_t first, std::size_t count, std::size_t size,
               float* packed) noexcept {
  for (std::size_t t = first; t < first + count; ++t, keys += stride) {
    float* lane = packed + t / kLanes * kLanes * size + t % kLanes;
    for (std::size_t i = 0; i < size; ++i) lane[i * kLanes] = keys[i];
  }
}

void attend(const EncoderKernels& kernels, const Head& head, const float* queries, std::size_t query_stride,
            std::size_t count, float* out, std::size_t out_stride, float* scores) {
  const std::size_t panels = (head.tokens + kLanes - 1) / kLanes;
  const std::size_t width = panels * kLanes;
  const float scale = 1.0f / std::sqrt(static_cast<float>(head.size));
  kernels.gemm_f32({queries, query_stride, head.keys, kLanes * head.size, kLanes, nullptr, scores, width, count,
                    head.size, panels, false});
  for (std::size_t q = 0; q < count; ++q) kernels.softmax(scores + q * width, head.tokens, scale);
  kernels.gemm_f32({scores, width, head.values, kLanes, head.value_stride, nullptr, out, out_stride, count, head.tokens,
                    head.size / kLanes, false});
}

void pack_keys(const float* keys, std::size_t stride, std::size_t first, std::size_t count, std::size_t size,
               std::uint16_t* packed) noexcept {
  for (std::size_t t = first; t < first + count; ++t, keys += stride) {
    std::uint16_t* lane = packed + t / kLanes * kLanes * kKeyParts * size + t % kLanes * 2;
    const auto put = [lane](std::size_t k, std::uint16_t value) { lane[k / 2 * 2 * kLanes + k % 2] = value; };
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint16_t upper = to_bf16(keys[i]);
      put(i, upper);
      put(size + i, to_bf16(keys[i] - from_bf16(upper)));
      put(2 * size + i, upper);
    }
  }
}

void pack_values(const float* values, std::size_t stride, std::size_t first, std::size_t count, std::size_t size,
                 std::size_t tokens, std::uint16_t* packed) noexcept {
  for (std::size_t t = first; t < first + count; ++t, values += stride) {
    std::uint16_t* pair = packed + t / 2 * 2 * kLanes + t % 2;
    for (std::size_t i = 0; i < size; ++i) pair[i / kLanes * tokens * kLanes + i % kLanes * 2] = to_bf16(values[i]);
  }
}

void attend(const EncoderKernels& kernels, const Bf16Head& head, const float* queries, std::size_t query_stride,
            std::size_t count, float* out, std::size_t out_stride, float* scores, std::uint16_t* rounded) {
  const std::size_t width = head.tokens;
  const std::size_t depth = kKeyParts * head.size;
  const float scale = 1.0f / std::sqrt(static_cast<float>(head.size));
  for (std::size_t q = 0; q < count; ++q) {
    const float* query = queries + q * query_stride;
    std::uint16_t* upper = rounded + q * depth;
    for (std::size_t i = 0; i < head.size; ++i) {
      upper[i] = to_bf16(query[i]);
      upper[head.size + i] = upper[i];
      upper[2 * head.size + i] = to_bf16(query[i] - from_bf16(upper[i]));
    }
  }
  kernels.gemm_bf16({rounded, depth, head.keys, depth * kLanes, 2 * kLanes, nullptr, scores, width, count, depth,
                     width / kLanes, false});
  for (std::size_t q = 0; q < count; ++q) {
    kernels.softmax(scores + q * width, width, scale);
    kernels.round_bf16(scores + q * width, rounded + q * width, width);
  }
  kernels.gemm_bf16({rounded, width, head.values, width * kLanes, 2 * kLanes, nullptr, out, out_stride, count, width,
                     head.size / kLanes, false});
}

}  // namespace lorekeep::encoder
