// The array family is large; its parts, in the order in which RegisterArrayOps adds them.
#ifndef TENSORBRAID_OPS_ARRAY_FAMILIES_H_
#define TENSORBRAID_OPS_ARRAY_FAMILIES_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterShapeOps(OpRegistry& r);         // array_shape.cc: shapes and what only changes them
void RegisterJoinOps(OpRegistry& r);          // array_join.cc: concatenate, split, pack
void RegisterSliceOps(OpRegistry& r);         // array_slice.cc: slice, strided slice, pad
void RegisterRearrangeOps(OpRegistry& r);     // array_rearrange.cc: tile, transpose, reverse, gather, where
void RegisterPassOps(OpRegistry& r);          // array_pass.cc: tensors handed on or seen differently, data formats
void RegisterSearchOps(OpRegistry& r);        // array_search.cc: unique, top k, bounds
void RegisterArrayScatterOps(OpRegistry& r);  // array_scatter.cc: scatter to places, update in place
void RegisterBlockOps(OpRegistry& r);         // array_blocks.cc: mirror, reverse, roll, space to batch and depth

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_ARRAY_FAMILIES_H_
