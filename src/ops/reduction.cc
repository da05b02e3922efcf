#include "ops/register.h"

namespace tensorbraid {

void RegisterReductionOps(OpRegistry& r) {}

}  // namespace tensorbraid
