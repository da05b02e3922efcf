// Numbers that tell whether two pieces of a graph compute the same.
#ifndef TENSORBRAID_GRAPH_FINGERPRINT_H_
#define TENSORBRAID_GRAPH_FINGERPRINT_H_

#include <cstdint>

#include "graph/function.h"

namespace tensorbraid {

// The value of an attribute. For a function, this is what its definition says: two functions with the same nodes and
// different names have the same fingerprint, and likewise the functions that they refer to. The numbers are the same in
// every process. Takes time in proportion to the definitions.
uint64_t FingerprintOf(const AttrValue& value, const FunctionLibrary& library);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FINGERPRINT_H_
