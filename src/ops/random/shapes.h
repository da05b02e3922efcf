// Shape rules that several files of random ops share. Defined in random.cc.
#ifndef TENSORBRAID_OPS_RANDOM_SHAPES_H_
#define TENSORBRAID_OPS_RANDOM_SHAPES_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

// Shape rule of ops whose first input is the shape of the output.
Status ShapeFromInput(ShapeContext& c);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_RANDOM_SHAPES_H_
