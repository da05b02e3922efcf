// Declares the functions that register the linalg ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_LINALG_REGISTRATION_H_
#define TENSORBRAID_OPS_LINALG_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterLinalgBandedOps(OpRegistry& r);     // banded.cc
void RegisterLinalgDecomposeOps(OpRegistry& r);  // decompose.cc
void RegisterLinalgDiagonalOps(OpRegistry& r);   // diagonal.cc
void RegisterLinalgEigenOps(OpRegistry& r);      // eigen.cc
void RegisterLinalgEinsumOps(OpRegistry& r);     // einsum.cc
void RegisterLinalgFourierOps(OpRegistry& r);    // fourier.cc
void RegisterLinalgFunctionsOps(OpRegistry& r);  // functions.cc
void RegisterLinalgSolveOps(OpRegistry& r);      // solve.cc
void RegisterLinalgSvdOps(OpRegistry& r);        // svd.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LINALG_REGISTRATION_H_
