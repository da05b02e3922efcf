// The parts of the family of linear algebra.
#ifndef TENSORBRAID_OPS_LINALG_FAMILIES_H_
#define TENSORBRAID_OPS_LINALG_FAMILIES_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterDiagonalOps(OpRegistry& r);  // linalg_diagonal.cc
void RegisterEinsumOps(OpRegistry& r);    // einsum.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LINALG_FAMILIES_H_
