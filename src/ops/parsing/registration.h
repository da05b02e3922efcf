// Declares the functions that register the parsing ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_PARSING_REGISTRATION_H_
#define TENSORBRAID_OPS_PARSING_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterParsingDecodeOps(OpRegistry& r);           // decode.cc
void RegisterParsingExampleOps(OpRegistry& r);          // example.cc
void RegisterParsingSequenceExampleOps(OpRegistry& r);  // sequence_example.cc
void RegisterParsingTensorOps(OpRegistry& r);           // tensor.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_PARSING_REGISTRATION_H_
