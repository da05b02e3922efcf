// Fingerprints of attribute values: numbers that are equal for functions that compute the same under different names.
#ifndef TENSORBRAID_GRAPH_FORMAT_FINGERPRINT_H_
#define TENSORBRAID_GRAPH_FORMAT_FINGERPRINT_H_

#include <cstdint>

#include "graph/functions/function.h"

namespace tensorbraid {

// Returns the fingerprint of an attribute's value. The fingerprint of a function depends on its definition and not on
// its name, and likewise for the functions that it refers to. So functions that differ only in such names have the same
// fingerprint. Fingerprints are the same in every process. Takes time in proportion to the size of the definitions.
uint64_t FingerprintOf(const AttrValue& value, const FunctionLibrary& library);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FORMAT_FINGERPRINT_H_
