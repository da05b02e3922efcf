// Server::Join: how a task that only serves waits for the end of the cluster's work.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_JOIN_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_JOIN_H_

#include "cluster/membership/membership.h"

namespace tensorbraid {

// Tells the other tasks that this one only serves, and blocks until the work is over (WorkIsOver), until this process
// is asked to stop and the tasks that work have had time to leave, or until the membership shuts down. Logs now and
// then for which tasks it waits.
Status JoinCluster(Membership* membership);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_JOIN_H_
