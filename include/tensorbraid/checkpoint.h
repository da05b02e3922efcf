// Includes the public API for checkpoints as files.
#ifndef TENSORBRAID_CHECKPOINT_H_
#define TENSORBRAID_CHECKPOINT_H_

#include "tensorbraid/checkpoint/checkpoint.h"

#endif  // TENSORBRAID_CHECKPOINT_H_
