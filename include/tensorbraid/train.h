// Includes the public API for training sessions, and their hooks, checkpoints, summaries and learning curves.
#ifndef TENSORBRAID_TRAIN_H_
#define TENSORBRAID_TRAIN_H_

#include "tensorbraid/train/coordinator.h"
#include "tensorbraid/train/file_writer.h"
#include "tensorbraid/train/hooks.h"
#include "tensorbraid/train/learning_curve.h"
#include "tensorbraid/train/monitored_session.h"
#include "tensorbraid/train/saver.h"
#include "tensorbraid/train/staged_input.h"
#include "tensorbraid/train/supervisor.h"

#endif  // TENSORBRAID_TRAIN_H_
