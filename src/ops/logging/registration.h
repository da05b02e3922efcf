// Declares the function that registers the logging ops, and names the file that defines it.
#ifndef TENSORBRAID_OPS_LOGGING_REGISTRATION_H_
#define TENSORBRAID_OPS_LOGGING_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterLoggingOps(OpRegistry& r);  // logging.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LOGGING_REGISTRATION_H_
