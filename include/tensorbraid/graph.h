// Includes the public API for graphs and variables.
#ifndef TENSORBRAID_GRAPH_H_
#define TENSORBRAID_GRAPH_H_

#include "tensorbraid/graph/custom_gradient.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/host_function.h"
#include "tensorbraid/graph/library_function.h"
#include "tensorbraid/graph/variable.h"

#endif  // TENSORBRAID_GRAPH_H_
