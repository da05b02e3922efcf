#include "ops/register.h"

namespace tensorbraid {

void RegisterStateOps(OpRegistry& r) {}

}  // namespace tensorbraid
