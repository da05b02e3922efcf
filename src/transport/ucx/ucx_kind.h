// Makes side lanes through UCX, which uses RDMA where the hardware supports it.
#ifndef TENSORBRAID_TRANSPORT_UCX_UCX_KIND_H_
#define TENSORBRAID_TRANSPORT_UCX_UCX_KIND_H_

#include <chrono>
#include <memory>

#include "transport/side_lane/lane_kind.h"
#include "transport/ucx/ucx_library.h"

namespace tensorbraid {

struct UcxOptions {
  // How long the two ends of a link may take until messages come through UCX. After that the link uses its base for
  // good.
  std::chrono::milliseconds open_timeout = std::chrono::seconds(5);
};

// The kind of side lane between two tasks that have the same version of UCX. Each end sends the other the address of
// its worker over the link, and both send a probe through UCX. An end's lane is open once it has received the probe
// of the other end.
//
// What travels through UCX is not encrypted.
std::shared_ptr<LaneKind> NewUcxKind(std::shared_ptr<UcxContext> context, const UcxOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_UCX_UCX_KIND_H_
