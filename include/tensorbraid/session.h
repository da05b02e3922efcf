// Includes the public API for sessions.
#ifndef TENSORBRAID_SESSION_H_
#define TENSORBRAID_SESSION_H_

#include "tensorbraid/session/session.h"

#endif  // TENSORBRAID_SESSION_H_
