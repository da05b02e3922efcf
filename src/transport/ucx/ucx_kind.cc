#include "transport/ucx/ucx_kind.h"

#include <utility>

#include "core/text/strings.h"
#include "transport/ucx/ucx_lane.h"

namespace tensorbraid {
namespace {

class UcxKind final : public LaneKind {
 public:
  UcxKind(std::shared_ptr<UcxContext> context, const UcxOptions& options)
      : context_(std::move(context)), options_(options) {}

  std::string id() const override { return "ucx"; }
  std::string name() const override { return StrCat("UCX ", version()); }
  std::string Offer() override { return version(); }
  Status Accepts(const std::string& offer) override {
    if (offer == version()) return OkStatus();
    return Unavailable("it has version ", offer, "; both tasks need the same");
  }
  std::string Answer(const std::string&) override { return version(); }
  StatusOr<std::shared_ptr<SideLane>> Open(const std::shared_ptr<LaneOpening>& opening) override;

 private:
  const std::string& version() const { return context_->library().version; }
  // Lets UCX work until the peer's probe has come through `lane`.
  Status Connect(UcxLane& lane, LaneOpening& opening) const;

  const std::shared_ptr<UcxContext> context_;
  const UcxOptions options_;
};

StatusOr<std::shared_ptr<SideLane>> UcxKind::Open(const std::shared_ptr<LaneOpening>& opening) {
  TF_ASSIGN_OR_RETURN(const auto lane, UcxLane::Create(context_));
  if (const Status connected = Connect(*lane, *opening); !connected.ok()) {
    lane->Abandon();
    return connected;
  }
  return lane;
}

Status UcxKind::Connect(UcxLane& lane, LaneOpening& opening) const {
  const auto deadline = MonotonicClock::now() + options_.open_timeout;
  opening.SendNote(lane.address().ToString());
  TF_ASSIGN_OR_RETURN(const std::string note, opening.NextNote(deadline));
  TF_ASSIGN_OR_RETURN(const UcxAddress peer, UcxAddress::Parse(note));
  TF_RETURN_IF_ERROR(lane.Connect(peer));
  lane.SendProbe();
  TF_RETURN_IF_ERROR(lane.WorkUntil(deadline, [&] { return lane.probed() || !opening.status().ok(); }));
  return opening.status();
}

}  // namespace

std::shared_ptr<LaneKind> NewUcxKind(std::shared_ptr<UcxContext> context, const UcxOptions& options) {
  return std::make_shared<UcxKind>(std::move(context), options);
}

}  // namespace tensorbraid
