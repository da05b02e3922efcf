// Includes the public API for data sets.
#ifndef TENSORBRAID_DATA_H_
#define TENSORBRAID_DATA_H_

#include "tensorbraid/data/dataset.h"
#include "tensorbraid/data/mnist.h"

#endif  // TENSORBRAID_DATA_H_
