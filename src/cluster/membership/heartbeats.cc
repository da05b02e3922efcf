#include "cluster/membership/heartbeats.h"

#include "core/text/strings.h"

namespace tensorbraid {

void Heartbeats::Tick(const std::vector<std::shared_ptr<PeerConnection>>& up, bool only_serves) {
  const auto now = MonotonicClock::now();
  const bool sends = !up.empty() && now >= next_;
  if (sends) next_ = now + interval_;
  for (const auto& c : up) {
    const auto silence = c->silence(now);
    if (silence > timeout_) {
      const long long seconds = std::chrono::duration_cast<std::chrono::seconds>(silence).count();
      c->link()->Close(Unavailable("no sign of life for ", seconds, " s"));
    } else if (sends) {
      c->link()->Send(Heartbeat{.only_serves = only_serves});
    }
  }
}

}  // namespace tensorbraid
