// Splits a strided region of a tensor into runs of contiguous elements.
#ifndef TENSORBRAID_KERNELS_CPU_ARRAY_STRIDED_RUNS_H_
#define TENSORBRAID_KERNELS_CPU_ARRAY_STRIDED_RUNS_H_

#include "kernels/cpu/elements.h"
#include "ops/array/strided_slice.h"

namespace tensorbraid {

// Visits a region of a tensor of shape `shape` in row-major order: calls run(offset, n) for each run of n contiguous
// elements.
template <typename F>
void ForEachRun(const Shape& shape, const StridedRegion& region, const F& run) {
  const int rank = shape.rank();
  for (int64_t size : region.size) {
    if (size == 0) return;
  }
  // The region covers the dimensions after `last` completely, so a run spans them.
  int last = rank - 1;
  int64_t inner = 1;
  while (last > 0 && region.size[last] == shape.dim(last) && region.stride[last] == 1) inner *= shape.dim(last--);
  if (rank == 0) {
    run(0, 1);
    return;
  }
  IntVector steps(rank);  // distance in elements between neighbours in each dimension of the region
  int64_t offset = 0;     // offset of the first element of the run
  int64_t step = inner;
  for (int d = last; d >= 0; --d) {
    offset += region.begin[d] * step;
    steps[d] = region.stride[d] * step;
    step *= shape.dim(d);
  }
  const bool whole_runs = region.stride[last] == 1;
  IntVector position(rank, 0);
  while (true) {
    if (whole_runs) {
      run(offset, region.size[last] * inner);
    } else {
      for (int64_t i = 0; i < region.size[last]; ++i) run(offset + i * steps[last], inner);
    }
    int d = last - 1;
    for (; d >= 0; --d) {
      offset += steps[d];
      if (++position[d] < region.size[d]) break;
      offset -= steps[d] * region.size[d];
      position[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ARRAY_STRIDED_RUNS_H_
