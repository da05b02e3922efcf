// Declares the functions that register the io ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_IO_REGISTRATION_H_
#define TENSORBRAID_OPS_IO_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterIoCheckpointOps(OpRegistry& r);       // checkpoint.cc
void RegisterIoCheckpointRemapOps(OpRegistry& r);  // checkpoint_remap.cc
void RegisterIoCheckpointV1Ops(OpRegistry& r);     // checkpoint_v1.cc
void RegisterIoFilesOps(OpRegistry& r);            // files.cc
void RegisterIoReadersOps(OpRegistry& r);          // readers.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_IO_REGISTRATION_H_
