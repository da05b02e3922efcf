#include "ops/register.h"

namespace tensorbraid {

void RegisterTrainingOps(OpRegistry& r) {}

}  // namespace tensorbraid
