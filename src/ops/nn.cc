#include "ops/register.h"

namespace tensorbraid {

void RegisterNnOps(OpRegistry& r) {}

}  // namespace tensorbraid
