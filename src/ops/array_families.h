// The array family is large; its parts, in the order in which RegisterArrayOps adds them.
#ifndef TENSORBRAID_OPS_ARRAY_FAMILIES_H_
#define TENSORBRAID_OPS_ARRAY_FAMILIES_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterShapeOps(OpRegistry& r);      // array_shape.cc: shapes and what only changes them
void RegisterJoinOps(OpRegistry& r);       // array_join.cc: concatenate, split, pack
void RegisterSliceOps(OpRegistry& r);      // array_slice.cc: slice, strided slice, pad
void RegisterRearrangeOps(OpRegistry& r);  // array_rearrange.cc: tile, transpose, reverse, gather, where

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_ARRAY_FAMILIES_H_
