// Includes the public API for optimizers, learning rates, gradient clipping, moving averages, and training with several
// replicas.
#ifndef TENSORBRAID_OPTIMIZERS_H_
#define TENSORBRAID_OPTIMIZERS_H_

#include "tensorbraid/optimizers/async_replicas.h"
#include "tensorbraid/optimizers/clip.h"
#include "tensorbraid/optimizers/grouped_optimizer.h"
#include "tensorbraid/optimizers/learning_rate.h"
#include "tensorbraid/optimizers/moving_average.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/recommender_rules.h"
#include "tensorbraid/optimizers/rules.h"
#include "tensorbraid/optimizers/sync_replicas.h"

#endif  // TENSORBRAID_OPTIMIZERS_H_
