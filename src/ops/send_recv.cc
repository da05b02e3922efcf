#include "ops/register.h"

namespace tensorbraid {

void RegisterSendRecvOps(OpRegistry& r) {}

}  // namespace tensorbraid
