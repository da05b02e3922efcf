// All ops. Each is documented where it is declared: formula, shapes, dtypes, gradient, errors.
#ifndef TENSORBRAID_OPS_H_
#define TENSORBRAID_OPS_H_

#include "tensorbraid/array_ops.h"
#include "tensorbraid/ctc_ops.h"
#include "tensorbraid/data_flow_ops.h"
#include "tensorbraid/image_ops.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/nn.h"
#include "tensorbraid/random_ops.h"
#include "tensorbraid/rnn.h"
#include "tensorbraid/rnn_ops.h"
#include "tensorbraid/sparse_ops.h"
#include "tensorbraid/variable.h"
#include "tensorbraid/variable_scope.h"

#endif  // TENSORBRAID_OPS_H_
