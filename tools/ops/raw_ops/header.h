// Writes the public headers of raw_ops.
#ifndef TENSORBRAID_TOOLS_OPS_RAW_OPS_HEADER_H_
#define TENSORBRAID_TOOLS_OPS_RAW_OPS_HEADER_H_

#include <string>
#include <vector>

#include "ops/raw_ops/function.h"

namespace tensorbraid {

// The header of one family, include/tensorbraid/raw_ops/FAMILY.h. REQUIRES: all functions are of this family.
std::string RawOpsHeader(const std::string& family, const std::vector<RawFunction>& functions);

// include/tensorbraid/raw_ops.h, which includes the headers of all families.
std::string RawOpsUmbrella(const std::vector<std::string>& families);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TOOLS_OPS_RAW_OPS_HEADER_H_
