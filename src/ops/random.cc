#include "ops/register.h"

namespace tensorbraid {

void RegisterRandomOps(OpRegistry& r) {}

}  // namespace tensorbraid
