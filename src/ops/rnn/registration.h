// Declares the functions that register the rnn ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_RNN_REGISTRATION_H_
#define TENSORBRAID_OPS_RNN_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterRnnBasicSequenceOps(OpRegistry& r);  // basic_sequence.cc
void RegisterRnnGruOps(OpRegistry& r);            // gru.cc
void RegisterRnnGruSequenceOps(OpRegistry& r);    // gru_sequence.cc
void RegisterRnnLstmOps(OpRegistry& r);           // lstm.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_RNN_REGISTRATION_H_
