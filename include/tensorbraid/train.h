// The training loop, and what watches and saves it.
#ifndef TENSORBRAID_TRAIN_H_
#define TENSORBRAID_TRAIN_H_

#include "tensorbraid/train/file_writer.h"
#include "tensorbraid/train/learning_curve.h"
#include "tensorbraid/train/saver.h"
#include "tensorbraid/train/supervisor.h"
#include "tensorbraid/train/train.h"

#endif  // TENSORBRAID_TRAIN_H_
