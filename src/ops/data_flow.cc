#include "ops/register.h"

namespace tensorbraid {

void RegisterDataFlowOps(OpRegistry& r) {}

}  // namespace tensorbraid
