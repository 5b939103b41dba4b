// How the engine fills the descriptors of sm90::linear_task at run time. The emitted tile_map types only wrap a pointer to them.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>

namespace engine {

struct LinearShape {
  int batch_size;
  int output_size;
  int reduction_size;
  int output_stride;
};

// A row-major bf16 matrix [rows, cols] with `stride` elements from row to row, in boxes of [box_rows, box_cols].
inline CUresult fill_matrix_map(CUtensorMap *map,
                                void *address,
                                int rows,
                                int cols,
                                int stride,
                                int box_rows,
                                int box_cols,
                                CUtensorMapSwizzle swizzle) {
  cuuint64_t const dims[2] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  cuuint64_t const strides[1] = {static_cast<cuuint64_t>(stride) * 2};
  cuuint32_t const box[2] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows)};
  cuuint32_t const steps[2] = {1, 1};
  return cuTensorMapEncodeTiled(map,
                                CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                2,
                                address,
                                dims,
                                strides,
                                box,
                                steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE,
                                swizzle,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

inline CUresult fill_input_map(CUtensorMap *map, void *address, LinearShape const &shape) {
  return fill_matrix_map(map, address, shape.batch_size, shape.reduction_size, shape.reduction_size,
                         std::min(16, shape.batch_size), 64, CU_TENSOR_MAP_SWIZZLE_128B);
}

inline CUresult fill_weight_map(CUtensorMap *map, void *address, LinearShape const &shape) {
  return fill_matrix_map(map, address, shape.output_size, shape.reduction_size, shape.reduction_size, 64, 64,
                         CU_TENSOR_MAP_SWIZZLE_128B);
}

// The output, and the residual, which has the output's layout.
inline CUresult fill_output_map(CUtensorMap *map, void *address, LinearShape const &shape) {
  return fill_matrix_map(map, address, shape.batch_size, shape.output_size, shape.output_stride,
                         std::min(16, shape.batch_size), 64, CU_TENSOR_MAP_SWIZZLE_NONE);
}

} // namespace engine
