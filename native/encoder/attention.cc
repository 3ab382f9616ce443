#include "encoder/attention.h"

#include <cmath>

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

}  // namespace lorekeep::encoder
