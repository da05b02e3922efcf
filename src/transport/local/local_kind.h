// Neighbours (tasks of one machine and one user) pass memory to each other instead of bytes.
#ifndef TENSORBRAID_TRANSPORT_LOCAL_LOCAL_KIND_H_
#define TENSORBRAID_TRANSPORT_LOCAL_LOCAL_KIND_H_

#include <memory>

#include "transport/local/local_lane.h"
#include "transport/side_lane/lane_kind.h"

namespace tensorbraid {

// The kind of side lane between neighbours. The Hellos tell whether two tasks are neighbours, and where the accepting
// one has its Unix socket. The connecting end connects to that socket and passes the memory of the rings (ring.h),
// together with a random number. The Hellos have named this number, so it tells the accepting end to which link the
// rings belong.
//
// Two neighbours may still be unable to open a lane: in different containers, under seccomp, or without shared memory.
std::shared_ptr<LaneKind> NewLocalKind(const LocalLaneOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_LOCAL_LOCAL_KIND_H_
