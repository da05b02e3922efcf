// Includes the public API for the layers of neural networks.
#ifndef TENSORBRAID_LAYERS_H_
#define TENSORBRAID_LAYERS_H_

#include "tensorbraid/layers/layers.h"
#include "tensorbraid/layers/losses.h"
#include "tensorbraid/layers/metrics.h"
#include "tensorbraid/layers/rnn.h"

#endif  // TENSORBRAID_LAYERS_H_
