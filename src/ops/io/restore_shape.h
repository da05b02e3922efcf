// The shape rule of ops that restore tensors.
#ifndef TENSORBRAID_OPS_IO_RESTORE_SHAPE_H_
#define TENSORBRAID_OPS_IO_RESTORE_SHAPE_H_

#include "graph/model/node.h"

namespace tensorbraid {

// For ops with the inputs prefix, tensor_names and shape_and_slices, perhaps others, and the tensors as outputs.
Status RestoreShape(ShapeContext& c);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_IO_RESTORE_SHAPE_H_
