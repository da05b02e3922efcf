// Includes the public API for values, errors and program flags.
#ifndef TENSORBRAID_CORE_H_
#define TENSORBRAID_CORE_H_

#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/flags.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/stop.h"
#include "tensorbraid/core/tensor.h"
#include "tensorbraid/core/wire.h"

#endif  // TENSORBRAID_CORE_H_
