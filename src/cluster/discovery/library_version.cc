#include "cluster/discovery/discover.h"

namespace tensorbraid {

const char* LibraryVersion() { return TENSORBRAID_VERSION; }

}  // namespace tensorbraid
