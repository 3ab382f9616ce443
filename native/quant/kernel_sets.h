// The sets behind kernels.h. Internal to native/quant.
#pragma once

#include "quant/kernels.h"

namespace lorekeep::quant {

extern const QuantKernels kScalarKernels;

}  // namespace lorekeep::quant
