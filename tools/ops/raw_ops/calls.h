// Writes calls of all functions of raw_ops, for a test.
#ifndef TENSORBRAID_TOOLS_OPS_RAW_OPS_CALLS_H_
#define TENSORBRAID_TOOLS_OPS_RAW_OPS_CALLS_H_

#include <string>
#include <vector>

#include "ops/raw_ops/function.h"

namespace tensorbraid {

// tests/ops/raw_ops_calls.inc: for each op a row {"MatMul", [](RawValues& v) { ... }} that calls the function with
// values of `v` for all parameters and options, and gives its result back to `v` (tests/ops/raw_ops_registry_test.cc).
std::string RawOpsCalls(const std::vector<RawFunction>& functions);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TOOLS_OPS_RAW_OPS_CALLS_H_
