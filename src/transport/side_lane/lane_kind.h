// A kind of side lane: how two tasks find out that they can have such a lane, and how each opens its end.
#ifndef TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_KIND_H_
#define TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_KIND_H_

#include <memory>
#include <string>

#include "tensorbraid/core/status.h"
#include "transport/side_lane/lane_opening.h"
#include "transport/side_lane/side_lane.h"

namespace tensorbraid {

// The connecting end's Hello has an offer of each of its kinds. The accepting end takes the first of its own kinds that
// accepts the peer's offer, and its Hello has the answer. Both ends then open the lane while the link is already in
// use. Thread-safe.
class LaneKind {
 public:
  virtual ~LaneKind() = default;

  virtual std::string id() const = 0;    // the same at both ends: "local", "ucx"
  virtual std::string name() const = 0;  // for the log: "shared memory"

  // Called once, before the first link. If it fails, this task has no such lanes, and the reason is logged.
  virtual Status Start() { return OkStatus(); }

  // The connecting end: what its Hello says.
  virtual std::string Offer() = 0;
  // The accepting end: whether the two ends should open a lane. The result for an offer is always the same. The message
  // of an error says why not, and is logged unless it is empty.
  virtual Status Accepts(const std::string& offer) = 0;
  // The accepting end: what its Hello answers to an offer that it accepts.
  virtual std::string Answer(const std::string& offer) = 0;

  // Both ends: called before the link's OnLinkUp if the two have agreed on this kind.
  virtual void OnAgreed() {}
  // Both ends: opens this end of the lane, on a thread of the link. May block, but should return soon after
  // `opening->status()` is an error. The link keeps working meanwhile, and without the lane if this returns an error.
  virtual StatusOr<std::shared_ptr<SideLane>> Open(const std::shared_ptr<LaneOpening>& opening) = 0;

  // Called after the last link has gone, perhaps more than once.
  virtual void Stop() {}
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_KIND_H_
