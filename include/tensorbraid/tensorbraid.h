// The whole library. Programs usually write
//
//   #include <tensorbraid/tensorbraid.h>
//   namespace tf = tensorbraid;
#ifndef TENSORBRAID_TENSORBRAID_H_
#define TENSORBRAID_TENSORBRAID_H_

#include "tensorbraid/array_ops.h"
#include "tensorbraid/checkpoint.h"
#include "tensorbraid/clip.h"
#include "tensorbraid/cluster_spec.h"
#include "tensorbraid/ctc_ops.h"
#include "tensorbraid/data.h"
#include "tensorbraid/data_flow_ops.h"
#include "tensorbraid/embedding_ops.h"
#include "tensorbraid/flags.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/image_ops.h"
#include "tensorbraid/initializers.h"
#include "tensorbraid/layers.h"
#include "tensorbraid/learning_curve.h"
#include "tensorbraid/learning_rate.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/moving_average.h"
#include "tensorbraid/nn.h"
#include "tensorbraid/optimizer.h"
#include "tensorbraid/partitioned_variable.h"
#include "tensorbraid/random_ops.h"
#include "tensorbraid/rnn.h"
#include "tensorbraid/rnn_ops.h"
#include "tensorbraid/saver.h"
#include "tensorbraid/server.h"
#include "tensorbraid/session.h"
#include "tensorbraid/sparse_ops.h"
#include "tensorbraid/sparse_tensor.h"
#include "tensorbraid/staleness.h"
#include "tensorbraid/status.h"
#include "tensorbraid/stop.h"
#include "tensorbraid/summary.h"
#include "tensorbraid/supervisor.h"
#include "tensorbraid/tensor.h"
#include "tensorbraid/tls_options.h"
#include "tensorbraid/train.h"
#include "tensorbraid/variable.h"
#include "tensorbraid/variable_scope.h"
#include "tensorbraid/wire.h"

#endif  // TENSORBRAID_TENSORBRAID_H_
