// Declares the functions that register the array ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_ARRAY_REGISTRATION_H_
#define TENSORBRAID_OPS_ARRAY_REGISTRATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/model/op_registry.h"

namespace tensorbraid {

// Shape rule: the output has the shape in attribute "shape".
Status PlaceholderShape(ShapeContext& c);

// The values of an int32 or int64 tensor. Nothing if it has another dtype, or if it is invalid because its value is not
// known while building the graph.
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
