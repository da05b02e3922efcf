// Includes the public API of the whole library. Programs usually write
//
//   #include <tensorbraid/tensorbraid.h>
//   namespace tf = tensorbraid;
#ifndef TENSORBRAID_TENSORBRAID_H_
#define TENSORBRAID_TENSORBRAID_H_

#include "tensorbraid/checkpoint.h"
#include "tensorbraid/cluster.h"
#include "tensorbraid/core.h"
#include "tensorbraid/custom_op.h"
#include "tensorbraid/data.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/layers.h"
#include "tensorbraid/ops.h"
#include "tensorbraid/optimizers.h"
#include "tensorbraid/session.h"
#include "tensorbraid/train.h"
#include "tensorbraid/transport.h"
#include "tensorbraid/variables.h"

#endif  // TENSORBRAID_TENSORBRAID_H_
