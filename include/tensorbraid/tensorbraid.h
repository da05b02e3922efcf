// The whole library. Programs usually say
//
//   #include <tensorbraid/tensorbraid.h>
//   namespace tf = tensorbraid;
#ifndef TENSORBRAID_TENSORBRAID_H_
#define TENSORBRAID_TENSORBRAID_H_

#include "tensorbraid/array_ops.h"
#include "tensorbraid/checkpoint.h"
#include "tensorbraid/cluster_spec.h"
#include "tensorbraid/data.h"
#include "tensorbraid/data_flow_ops.h"
#include "tensorbraid/flags.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/nn.h"
#include "tensorbraid/optimizer.h"
#include "tensorbraid/random_ops.h"
#include "tensorbraid/saver.h"
#include "tensorbraid/server.h"
#include "tensorbraid/session.h"
#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"
#include "tensorbraid/train.h"
#include "tensorbraid/variable.h"

#endif  // TENSORBRAID_TENSORBRAID_H_
