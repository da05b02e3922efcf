#include "transport/local/local_kind.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <deque>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "transport/local/lane_socket.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::milliseconds kReceiveTimeout{200};
// The most links that may wait for their rings at the same time. Beyond that, those that have waited longest are
// forgotten, and get no lane.
constexpr size_t kMaxExpected = 1024;

// Large blocks of shared memory have a descriptor each, and the usual limit of 1024 is low for that. A process may
// raise its limit to a maximum that the system sets.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// What a Hello contains for this kind of lane. `place` is the machine in an offer, and the name of the socket in an
// answer.
struct Word {
  std::string place;
  uint64_t secret = 0;  // of the link; random, never 0. Each message over the socket must name it

  std::string ToString() const { return StrCat(place, " ", secret); }
  static std::optional<Word> Parse(const std::string& text) {
    const size_t space = text.rfind(' ');
    Word word;
    if (space == std::string::npos) return std::nullopt;
    if (!absl::SimpleAtoi(text.substr(space + 1), &word.secret) || word.secret == 0) {
      return std::nullopt;
    }
    word.place = text.substr(0, space);
    return word;
  }
};

class LocalKind final : public LaneKind {
 public:
  explicit LocalKind(const LocalLaneOptions& options) : options_(options) {}
  ~LocalKind() override { Stop(); }

  std::string id() const override { return "local"; }
  std::string name() const override { return "shared memory"; }
  Status Start() override;
  // The secret is odd, so that it is not 0.
  std::string Offer() override { return Word{.place = machine_, .secret = RandomSeed() | 1}.ToString(); }
  Status Accepts(const std::string& offer) override;
  std::string Answer(const std::string& offer) override;
  // Graphs that are prepared for execution from now on allocate the tensors that they send in shared memory.
  void OnAgreed() override { SetHasNeighbours(); }
  StatusOr<std::shared_ptr<SideLane>> Open(const std::shared_ptr<LaneOpening>& opening) override;
  void Stop() override;

 private:
  // The rings of a link, at the accepting end.
  struct Expected {
    Fd socket, rings;                                // set once they have come over the Unix socket
    std::shared_ptr<LaneOpening> opening = nullptr;  // set once the link waits for the rings
  };

  // The connecting end: passes the rings to the neighbour.
  StatusOr<std::shared_ptr<SideLane>> Dial(const Word& answer);
  // The accepting end: waits for the rings.
  StatusOr<std::shared_ptr<SideLane>> Await(const std::shared_ptr<LaneOpening>& opening, uint64_t secret);
  bool HaveCome(uint64_t secret);
  void AcceptLoop();
  void Take(Fd socket);

  const LocalLaneOptions options_;
  std::string machine_, socket_name_;  // constant after Start
  Fd listening_;
  Thread acceptor_;

  Mutex mu_;
  absl::flat_hash_map<uint64_t, Expected> expected_ TB_GUARDED_BY(mu_);  // by secret
  std::deque<uint64_t> order_ TB_GUARDED_BY(mu_);                        // the secrets, in order of arrival
};

Status LocalKind::Start() {
  RaiseDescriptorLimit();
  machine_ = MachineAndUser();
  if (machine_.empty()) return Unavailable("the system does not tell the machine's identity");
  TF_ASSIGN_OR_RETURN(listening_, ListenForNeighbours(&socket_name_));
  acceptor_ = Thread("tb-local-accept", [this] { AcceptLoop(); });
  return OkStatus();
}

void LocalKind::Stop() {
  if (!acceptor_.joinable()) return;
  ::shutdown(listening_.get(), SHUT_RDWR);
  acceptor_.Join();
  listening_.Close();
}

Status LocalKind::Accepts(const std::string& offer) {
  const auto word = Word::Parse(offer);
  if (word && word->place == machine_) return OkStatus();
  const bool other_user = word && IsOtherUser(machine_, word->place);
  return Unavailable(other_user ? "it is on this machine, but runs as another user" : "");
}

std::string LocalKind::Answer(const std::string& offer) {
  const uint64_t secret = Word::Parse(offer)->secret;
  MutexLock lock(mu_);
  if (expected_.try_emplace(secret).second) order_.push_back(secret);
  if (order_.size() > kMaxExpected) {
    expected_.erase(order_.front());
    order_.pop_front();
  }
  return Word{.place = socket_name_, .secret = secret}.ToString();
}

StatusOr<std::shared_ptr<SideLane>> LocalKind::Open(const std::shared_ptr<LaneOpening>& opening) {
  const auto word = Word::Parse(opening->word());
  if (!word) return InvalidArgument("the other task has sent a malformed answer");
  return opening->connected() ? Dial(*word) : Await(opening, word->secret);
}

StatusOr<std::shared_ptr<SideLane>> LocalKind::Dial(const Word& answer) {
  TF_ASSIGN_OR_RETURN(auto rings, LocalLane::NewRings(options_));
  TF_ASSIGN_OR_RETURN(Fd socket, ConnectToNeighbour(answer.place));
  TF_RETURN_IF_ERROR(SendFd(socket, {.a = answer.secret, .b = options_.ring_bytes, .c = 0}, rings->fd()));
  return std::make_shared<LocalLane>(options_, std::move(rings), /*connected=*/true, std::move(socket));
}

StatusOr<std::shared_ptr<SideLane>> LocalKind::Await(const std::shared_ptr<LaneOpening>& opening, uint64_t secret) {
  {
    MutexLock lock(mu_);
    const auto it = expected_.find(secret);
    if (it == expected_.end()) return Unavailable("too many links wait for the memory of their rings");
    it->second.opening = opening;
  }
  const Status waited = opening->WaitUntil([&] { return HaveCome(secret); });
  Expected come;
  {
    MutexLock lock(mu_);
    const auto it = expected_.find(secret);
    if (it != expected_.end()) {
      come = std::move(it->second);
      expected_.erase(it);
      std::erase(order_, secret);
    }
  }
  TF_RETURN_IF_ERROR(waited);
  if (!come.rings.is_open()) return Unavailable("too many links wait for the memory of their rings");
  TF_ASSIGN_OR_RETURN(auto rings, SharedSegment::Map(std::move(come.rings), LocalLane::RingsSize(options_),
                                                     SharedSegment::Others::kMayWrite));
  return std::make_shared<LocalLane>(options_, std::move(rings), /*connected=*/false, std::move(come.socket));
}

bool LocalKind::HaveCome(uint64_t secret) {
  MutexLock lock(mu_);
  const auto it = expected_.find(secret);
  return it == expected_.end() || it->second.rings.is_open();
}

void LocalKind::AcceptLoop() {
  for (;;) {
    StatusOr<Fd> socket = AcceptNeighbour(listening_);
    if (absl::IsCancelled(socket.status())) return;
    if (socket.ok()) {
      Take(*std::move(socket));
    } else {
      TB_LOG(Warning, "transport") << socket.status().message();
      // Waits, because the process may be out of descriptors.
      if (!absl::IsPermissionDenied(socket.status())) SleepFor(std::chrono::milliseconds(10));
    }
  }
}

void LocalKind::Take(Fd socket) {
  FdMessage message;
  StatusOr<Fd> rings = ReceiveFd(socket, kReceiveTimeout, &message);
  if (!rings.ok() || message.b != options_.ring_bytes) return;
  std::shared_ptr<LaneOpening> opening;
  {
    MutexLock lock(mu_);
    const auto it = expected_.find(message.a);
    if (it == expected_.end() || it->second.rings.is_open()) return;
    it->second.socket = std::move(socket);
    it->second.rings = *std::move(rings);
    opening = it->second.opening;
  }
  if (opening != nullptr) opening->Wake();
}

}  // namespace

std::shared_ptr<LaneKind> NewLocalKind(const LocalLaneOptions& options) { return std::make_shared<LocalKind>(options); }

}  // namespace tensorbraid
