#include <tensorbraid/custom_op.h>

#include <stdexcept>

TENSORBRAID_OP_LIBRARY(library) {
  library.Add(tensorbraid::CustomOp("NotAddedEither").Output("y: float"));
  throw std::runtime_error("the licence has expired");
}
