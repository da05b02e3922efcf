// Declares the functions that register the list ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_LIST_REGISTRATION_H_
#define TENSORBRAID_OPS_LIST_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterListOptionalOps(OpRegistry& r);        // optional.cc
void RegisterListTensorListOps(OpRegistry& r);      // tensor_list.cc
void RegisterListTensorListBulkOps(OpRegistry& r);  // tensor_list_bulk.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LIST_REGISTRATION_H_
