// Ops that a program, or a library that a server loads, adds to those of Tensorbraid (docs/custom_ops.md).
#ifndef TENSORBRAID_CUSTOM_OP_H_
#define TENSORBRAID_CUSTOM_OP_H_

#include "tensorbraid/custom_op/custom_op.h"
#include "tensorbraid/custom_op/library.h"
#include "tensorbraid/custom_op/op_kernel.h"

#endif  // TENSORBRAID_CUSTOM_OP_H_
