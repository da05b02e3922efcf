// Includes the options of connections: TLS, and the limits of a server.
#ifndef TENSORBRAID_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_H_

#include "tensorbraid/transport/server_limits.h"
#include "tensorbraid/transport/tls_options.h"

#endif  // TENSORBRAID_TRANSPORT_H_
