// Includes the functions for all ops. Their declarations document the formula, shapes, dtypes, gradient and errors.
#ifndef TENSORBRAID_OPS_H_
#define TENSORBRAID_OPS_H_

#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/ctc.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/image.h"
#include "tensorbraid/ops/logging.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/ops/random.h"
#include "tensorbraid/ops/rnn.h"
#include "tensorbraid/ops/sparse.h"
#include "tensorbraid/ops/summary.h"

#endif  // TENSORBRAID_OPS_H_
