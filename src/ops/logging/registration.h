// The files of the logging ops: each has one function, which registers its ops.
#ifndef TENSORBRAID_OPS_LOGGING_REGISTRATION_H_
#define TENSORBRAID_OPS_LOGGING_REGISTRATION_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterLoggingOps(OpRegistry& r);  // logging.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LOGGING_REGISTRATION_H_
