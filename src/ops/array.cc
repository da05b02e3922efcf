#include "ops/register.h"

namespace tensorbraid {

void RegisterArrayOps(OpRegistry& r) {}

}  // namespace tensorbraid
