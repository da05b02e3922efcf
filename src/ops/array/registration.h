// The files of the array ops: each has one function, which registers its ops.
#ifndef TENSORBRAID_OPS_ARRAY_REGISTRATION_H_
#define TENSORBRAID_OPS_ARRAY_REGISTRATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op_registry.h"

namespace tensorbraid {

// Shape rule: the output has the shape that attribute "shape" says.
Status PlaceholderShape(ShapeContext& c);

// The values of an int32 or int64 constant; none if the tensor is of another dtype or not known before running.
std::optional<std::vector<int64_t>> IntegersOf(const Tensor& t);

void RegisterArrayOps(OpRegistry& r);           // array.cc
void RegisterArrayBlocksOps(OpRegistry& r);     // blocks.cc
void RegisterArrayGatherOps(OpRegistry& r);     // gather.cc
void RegisterArrayJoinOps(OpRegistry& r);       // join.cc
void RegisterArrayPassOps(OpRegistry& r);       // pass.cc
void RegisterArrayRearrangeOps(OpRegistry& r);  // rearrange.cc
void RegisterArrayScatterOps(OpRegistry& r);    // scatter.cc
void RegisterArraySearchOps(OpRegistry& r);     // search.cc
void RegisterArrayShapeOps(OpRegistry& r);      // shape.cc
void RegisterArraySliceOps(OpRegistry& r);      // slice.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_ARRAY_REGISTRATION_H_
