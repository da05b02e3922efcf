// How the two ends of a link talk to each other while they open a side lane beside it.
#ifndef TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_OPENING_H_
#define TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_OPENING_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "transport/transport.h"

namespace tensorbraid {

// One end of the conversation. LaneKind::Open sends and receives notes here. The link passes the peer's notes on to
// this object, and tells it when there will be no lane. Thread-safe.
class LaneOpening {
 public:
  // `connected`: this end has connected, and `word` is the peer's answer. Otherwise `word` is the peer's offer.
  LaneOpening(std::shared_ptr<Link> base, bool connected, std::string word)
      : base_(std::move(base)), connected_(connected), word_(std::move(word)) {}

  bool connected() const { return connected_; }
  const std::string& word() const { return word_; }

  // Sends a note, which the peer's NextNote returns.
  void SendNote(std::string note);
  // Blocks until the peer's next note has come. Fails with the error of status(), or with DeadlineExceeded.
  StatusOr<std::string> NextNote(MonotonicClock::time_point deadline);
  // Blocks until `done()` is true. Calls `done` at first and after each Wake. Returns the error of status() if that
  // comes first. `done` must not call this object.
  Status WaitUntil(const std::function<bool()>& done);
  void Wake();
  // OK until the peer has given the lane up or the link is down; then says why.
  Status status();

  // --- Called by the link.
  // InvalidArgument if the peer sends more notes than any kind needs.
  Status OnNote(std::string note);
  void Stop(const Status& why);

 private:
  const std::shared_ptr<Link> base_;
  const bool connected_;
  const std::string word_;
  Mutex mu_;
  CondVar cv_;
  std::deque<std::string> notes_ TB_GUARDED_BY(mu_);
  Status status_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_OPENING_H_
