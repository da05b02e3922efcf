// The whole library. Programs usually write
//
//   #include <tensorbraid/tensorbraid.h>
//   namespace tf = tensorbraid;
#ifndef TENSORBRAID_TENSORBRAID_H_
#define TENSORBRAID_TENSORBRAID_H_

#include "tensorbraid/ops/array.h"
#include "tensorbraid/train/checkpoint.h"
#include "tensorbraid/optimizers/clip.h"
#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/ops/ctc.h"
#include "tensorbraid/data/mnist.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/variables/embedding.h"
#include "tensorbraid/core/flags.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/image.h"
#include "tensorbraid/variables/initializers.h"
#include "tensorbraid/layers/layers.h"
#include "tensorbraid/train/learning_curve.h"
#include "tensorbraid/optimizers/learning_rate.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/optimizers/moving_average.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/variables/partitioned_variable.h"
#include "tensorbraid/ops/random.h"
#include "tensorbraid/layers/rnn.h"
#include "tensorbraid/ops/rnn.h"
#include "tensorbraid/train/saver.h"
#include "tensorbraid/cluster/server.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/ops/sparse.h"
#include "tensorbraid/ops/sparse_tensor.h"
#include "tensorbraid/optimizers/staleness.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/stop.h"
#include "tensorbraid/summary/summary.h"
#include "tensorbraid/train/supervisor.h"
#include "tensorbraid/core/tensor.h"
#include "tensorbraid/cluster/tls_options.h"
#include "tensorbraid/train/train.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/variable_scope.h"
#include "tensorbraid/core/wire.h"

#endif  // TENSORBRAID_TENSORBRAID_H_
