// A library with a new op, and one whose name is taken.
#include <tensorbraid/custom_op.h>

TENSORBRAID_OP_LIBRARY(library) {
  library.Add(tensorbraid::CustomOp("NotAdded").Output("y: float"));
  library.Add(tensorbraid::CustomOp("Relu").Output("y: float"));
}
