#include "transport/ucx/ucx_lane.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory/allocator.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

constexpr unsigned kFrameId = 1;  // UCX's id for the kind of active message; all frames have the same
// A message whose payload is not larger than this is sent as one piece, into which the payload is copied.
constexpr size_t kCopiedBytes = 4 << 10;
// A lane receives at most this many bytes of payloads at the same time, so that a peer cannot make this process
// allocate more. A larger payload is received alone.
constexpr uint64_t kMaxReceivingBytes = 256 << 20;
constexpr int kProgressRounds = 64;                   // the most steps of UCX's work that one call of Progress does
constexpr std::chrono::milliseconds kDrainTime{200};  // for the last messages of a peer that has closed the link
constexpr std::chrono::milliseconds kEndTime{500};    // for what this side has sent before it ends
// How long Abandon waits before it destroys a worker that is not connected, because its address was sent to the peer.
constexpr std::chrono::milliseconds kConnectGrace{100};

}  // namespace

std::string UcxAddress::ToString() const {
  return std::string(reinterpret_cast<const char*>(&secret), sizeof secret) + address;
}

StatusOr<UcxAddress> UcxAddress::Parse(const std::string& note) {
  UcxAddress parsed;
  if (note.size() < sizeof parsed.secret) return InvalidArgument("a task has sent a malformed address of UCX");
  std::memcpy(&parsed.secret, note.data(), sizeof parsed.secret);
  parsed.address = note.substr(sizeof parsed.secret);
  return parsed;
}

// A frame that UCX may use until it has been sent.
struct UcxLane::Outgoing {
  UcxLane* lane = nullptr;
  UcxFramePrefix prefix;
  std::string header;                      // the prefix; in kind kSplit also the message's header
  std::string data;                        // the data of the frame, unless it is of kind kSplit
  Payload payload;                         // the data of a frame of kind kSplit
  std::list<Outgoing>::iterator position;  // in sending_
};

UcxLane::UcxLane(std::shared_ptr<UcxContext> context) : context_(std::move(context)), ucx_(context_->library()) {}

Status UcxLane::Failed(const char* what, ucs_status_t status) const {
  return Unavailable("UCX could not ", what, ": ", ucx_.ucs_status_string(status));
}

void UcxLane::Break(const Status& why) {
  if (broken_.ok()) broken_ = why;
}

StatusOr<std::shared_ptr<UcxLane>> UcxLane::Create(std::shared_ptr<UcxContext> context) {
  std::shared_ptr<UcxLane> lane(new UcxLane(std::move(context)));
  TF_RETURN_IF_ERROR(lane->Init());
  return lane;
}

Status UcxLane::Init() {
  MutexLock lock(mu_);
  wake_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.is_open()) return Unavailable("out of file descriptors");
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const auto s = ucx_.ucp_worker_create(context_->get(), &params, &worker_); s != UCS_OK) {
    return Failed("create a worker", s);
  }
  if (const auto s = ucx_.ucp_worker_get_efd(worker_, &events_); s != UCS_OK) return Failed("report events", s);
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
  if (const auto s = ucx_.ucp_worker_query(worker_, &attributes); s != UCS_OK) return Failed("query a worker", s);
  max_header_ = attributes.max_am_header;
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kFrameId;
  handler.arg = this;
  handler.cb = [](void* self, const void* header, size_t header_size, void* data, size_t size,
                  const ucp_am_recv_param_t* param) TB_NO_THREAD_SAFETY_ANALYSIS {
    return static_cast<UcxLane*>(self)->OnFrame({static_cast<const char*>(header), header_size}, data, size,
                                                (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
  };
  if (const auto s = ucx_.ucp_worker_set_am_recv_handler(worker_, &handler); s != UCS_OK) {
    return Failed("set a handler", s);
  }
  ucp_address_t* address = nullptr;
  size_t size = 0;
  if (const auto s = ucx_.ucp_worker_get_address(worker_, &address, &size); s != UCS_OK) {
    return Failed("get an address", s);
  }
  address_.address.assign(reinterpret_cast<const char*>(address), size);
  address_.secret = RandomSeed();
  inbox_ = std::make_unique<UcxInbox>(address_.secret);
  ucx_.ucp_worker_release_address(worker_, address);
  return OkStatus();
}

UcxLane::~UcxLane() { End(); }

Status UcxLane::Connect(const UcxAddress& peer) {
  if (peer.address.empty()) return InvalidArgument("a task has sent an empty address of UCX");
  peers_secret_ = peer.secret;
  MutexLock lock(mu_);
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.arg = this;
  params.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t status) TB_NO_THREAD_SAFETY_ANALYSIS {
    auto* const lane = static_cast<UcxLane*>(self);
    lane->Break(lane->Failed("reach the task", status));
  };
  if (const auto s = ucx_.ucp_ep_create(worker_, &params, &endpoint_); s != UCS_OK) {
    return Failed("create an endpoint", s);
  }
  return OkStatus();
}

bool UcxLane::is_connected() {
  MutexLock lock(mu_);
  return endpoint_ != nullptr;
}

// --- Sending.

void UcxLane::SendProbe() { SendEmptyFrame(UcxFrameKind::kProbe); }

void UcxLane::Close() {
  {
    MutexLock lock(mu_);
    if (endpoint_ == nullptr || std::exchange(closed_, true)) return;
  }
  SendEmptyFrame(UcxFrameKind::kClosing);
}

void UcxLane::SendEmptyFrame(UcxFrameKind kind) {
  std::list<Outgoing> frame(1);
  frame.front().prefix.kind = kind;
  SendFrame(std::move(frame));
}

Status UcxLane::Send(const Message& message, bool) {
  static thread_local std::string packet;
  packet.clear();
  TF_RETURN_IF_ERROR(AppendPacket(message, &packet));
  const std::string_view header = std::string_view(packet).substr(kPacketPrefixBytes);
  const Payload* const payload = PayloadOf(message);
  std::list<Outgoing> list(1);
  Outgoing* const frame = &list.front();
  frame->prefix.header_bytes = header.size();
  frame->prefix.sequence = std::holds_alternative<BulkTensor>(message) ? 1 : 0;
  const bool in_place = payload != nullptr && payload->size() > kCopiedBytes && payload->owner &&
                        payload->pieces.size() == 1 && sizeof(UcxFramePrefix) + header.size() <= max_header_;
  if (in_place) {
    frame->prefix.kind = UcxFrameKind::kSplit;
    frame->payload = *payload;
    frame->header.resize(sizeof(UcxFramePrefix));
    frame->header += header;
  } else {
    frame->prefix.kind = UcxFrameKind::kWhole;
    frame->data = header;
    if (payload != nullptr) {
      for (const auto& piece : payload->pieces) {
        frame->data.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      }
    }
  }
  if (packet.capacity() > 1 << 20) packet = {};
  SendFrame(std::move(list));
  return OkStatus();
}

void UcxLane::SendFrame(std::list<Outgoing> list) {
  Outgoing* const frame = &list.front();
  frame->lane = this;
  frame->position = list.begin();
  if (frame->header.empty()) frame->header.resize(sizeof(UcxFramePrefix));
  const bool in_place = frame->prefix.kind == UcxFrameKind::kSplit;
  const void* const data = in_place ? static_cast<const void*>(frame->payload.pieces[0].data()) : frame->data.data();
  const size_t size = in_place ? frame->payload.size() : frame->data.size();
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  params.memory_type = UCS_MEMORY_TYPE_HOST;
  params.user_data = frame;
  params.cb.send = [](void* request, ucs_status_t status, void* data) TB_NO_THREAD_SAFETY_ANALYSIS {
    auto* const frame = static_cast<Outgoing*>(data);
    UcxLane* const lane = frame->lane;
    lane->OnSent(frame, status);
    lane->ucx_.ucp_request_free(request);
  };
  MutexLock lock(mu_);
  if (ended_ || !broken_.ok()) return;
  frame->prefix.secret = peers_secret_;
  if (frame->prefix.kind != UcxFrameKind::kProbe) frame->prefix.number = next_number_[frame->prefix.sequence]++;
  std::memcpy(frame->header.data(), &frame->prefix, sizeof(UcxFramePrefix));
  const ucs_status_ptr_t sent =
      ucx_.ucp_am_send_nbx(endpoint_, kFrameId, frame->header.data(), frame->header.size(), data, size, &params);
  if (sent == nullptr) return;
  if (UCS_PTR_IS_ERR(sent)) {
    Break(Failed("send a message", UCS_PTR_STATUS(sent)));
  } else {
    sending_.splice(sending_.end(), list);
  }
  WakeLocked();  // the reader's thread sends the rest, or reports the error
}

void UcxLane::OnSent(Outgoing* frame, ucs_status_t status) {
  sending_.erase(frame->position);
  if (status != UCS_OK && !ended_) Break(Failed("send a message", status));
}

// --- The reader's sleep.

void UcxLane::Wake() {
  MutexLock lock(mu_);
  WakeLocked();
}

void UcxLane::WakeLocked() {
  if (sleeping_) eventfd_write(wake_.get(), 1);
}

void UcxLane::SleepUntil(MonotonicClock::time_point deadline, const std::function<bool()>& wanted) {
  bool broken;
  {
    MutexLock lock(mu_);
    broken = !broken_.ok();
    if (ended_ || wanted() || (broken && !end_reported_)) return;
    // If the lane is broken, only Wake can end the sleep.
    if (!broken && ucx_.ucp_worker_arm(worker_) != UCS_OK) return;  // UCX has something to do
    sleeping_ = true;
  }
  int timeout_ms = -1;
  if (deadline != MonotonicClock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - MonotonicClock::now());
    timeout_ms = static_cast<int>(std::max<int64_t>(0, left.count()));
  }
  pollfd events[] = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                     {.fd = events_, .events = POLLIN, .revents = 0}};
  poll(events, broken ? 1 : 2, timeout_ms);
  eventfd_t ignored;
  if (events[0].revents != 0) eventfd_read(wake_.get(), &ignored);
  MutexLock lock(mu_);
  sleeping_ = false;
}

// --- Receiving.

bool UcxLane::Progress() {
  bool any = false;
  for (int i = 0; i < kProgressRounds && broken_.ok() && ucx_.ucp_worker_progress(worker_) != 0; ++i) any = true;
  return any;
}

bool UcxLane::probed() {
  MutexLock lock(mu_);
  return inbox_->probed();
}

Status UcxLane::WorkUntil(MonotonicClock::time_point deadline, const std::function<bool()>& done) {
  for (;;) {
    Status broken;
    {
      MutexLock lock(mu_);
      Progress();
      broken = broken_;
    }
    // Checks done() before the error: a peer may have sent what done() waits for, and then have closed its end.
    if (done()) return OkStatus();
    TF_RETURN_IF_ERROR(broken);
    const auto now = MonotonicClock::now();
    if (now >= deadline) return absl::DeadlineExceededError("no message came through UCX in time");
    SleepUntil(std::min(deadline, now + std::chrono::milliseconds(10)), [] { return false; });
  }
}

ucs_status_t UcxLane::OnFrame(std::string_view header, void* data, size_t size, bool is_descriptor) {
  if (ended_) return UCS_OK;
  const StatusOr<UcxFrame*> added = inbox_->Add(header, size);
  if (!added.ok()) Break(added.status());
  if (!added.ok() || *added == nullptr) return UCS_OK;
  UcxFrame& frame = **added;
  if (is_descriptor) {
    waiting_.push_back({.lane = this, .frame = &frame, .descriptor = data, .position = {}});
    waiting_.back().position = std::prev(waiting_.end());
    return UCS_INPROGRESS;
  }
  if (size > 0) {
    frame.data = AllocateBuffer(size);
    if (!frame.data) {
      Break(ResourceExhausted("out of memory receiving ", size, " bytes"));
      return UCS_OK;
    }
    std::memcpy(frame.data->data(), data, size);
  }
  frame.complete = true;
  return UCS_OK;
}

void UcxLane::StartReceiving() {
  while (!waiting_.empty() && broken_.ok() && !ended_) {
    UcxFrame& frame = *waiting_.front().frame;
    if (!receiving_.empty() && receiving_bytes_ + frame.size > kMaxReceivingBytes) return;
    frame.data = AllocateBuffer(frame.size);
    if (!frame.data) {
      Break(ResourceExhausted("out of memory receiving ", frame.size, " bytes"));
      return;
    }
    receiving_.splice(receiving_.end(), waiting_, waiting_.begin());
    Incoming* const incoming = &receiving_.back();
    receiving_bytes_ += frame.size;
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    params.memory_type = UCS_MEMORY_TYPE_HOST;
    params.user_data = incoming;
    params.cb.recv_am = [](void* request, ucs_status_t status, size_t, void* data) TB_NO_THREAD_SAFETY_ANALYSIS {
      auto* const incoming = static_cast<Incoming*>(data);
      UcxLane* const lane = incoming->lane;
      lane->OnReceived(incoming, status);
      lane->ucx_.ucp_request_free(request);
    };
    const ucs_status_ptr_t request =
        ucx_.ucp_am_recv_data_nbx(worker_, incoming->descriptor, frame.data->data(), frame.size, &params);
    if (request == nullptr || UCS_PTR_IS_ERR(request)) OnReceived(incoming, UCS_PTR_STATUS(request));
  }
}

void UcxLane::OnReceived(Incoming* incoming, ucs_status_t status) {
  receiving_bytes_ -= incoming->frame->size;
  if (status == UCS_OK) {
    incoming->frame->complete = true;
  } else if (!ended_) {
    Break(Failed("receive a payload", status));
  }
  receiving_.erase(incoming->position);
}

StatusOr<bool> UcxLane::Receive(const std::function<void(Message)>& on_message) {
  std::vector<std::unique_ptr<UcxFrame>> frames;
  bool any;
  Status broken;
  {
    MutexLock lock(mu_);
    if (ended_) return false;
    any = Progress();
    StartReceiving();
    frames = inbox_->TakeComplete();
    broken = broken_;
  }
  for (const auto& frame : frames) {
    if (frame->kind == UcxFrameKind::kClosing) {
      MutexLock lock(mu_);
      peer_closed_ = true;
      continue;
    }
    TF_ASSIGN_OR_RETURN(Message message, frame->Decode());
    on_message(std::move(message));
  }
  if (!broken.ok() && frames.empty()) {
    // The peer closes its end soon after its last message, and UCX may report that as an error. It is no error if the
    // peer has said that it closes: then only the end of the link is still to come.
    MutexLock lock(mu_);
    end_reported_ = true;
    if (!peer_closed_) return broken;
  }
  return any || !frames.empty();
}

bool UcxLane::IsDrained() {
  Close();  // the peer may be waiting, too
  MutexLock lock(mu_);
  if (peer_closed_ || !broken_.ok() || ended_) return true;
  const auto now = MonotonicClock::now();
  if (drained_at_ == MonotonicClock::time_point{}) drained_at_ = now + kDrainTime;
  return now >= drained_at_;
}

// UCX 1.13 can end the peer's process if this end's worker is destroyed while the peer connects to it. So a peer that
// has this end's address gets the time to connect. Once both are connected, each waits for the other to say that it
// closes.
void UcxLane::Abandon() {
  if (is_connected()) {
    const auto is_drained = [this] { return !Receive([](Message) {}).ok() || IsDrained(); };
    WorkUntil(MonotonicClock::time_point::max(), is_drained).IgnoreError();  // it may be broken already
  } else {
    SleepFor(kConnectGrace);
  }
  End();
}

void UcxLane::End() {
  {
    MutexLock lock(mu_);
    if (std::exchange(ended_, true)) return;
    for (const Incoming& incoming : waiting_) ucx_.ucp_am_data_release(worker_, incoming.descriptor);
    waiting_.clear();
  }
  // The lock is free between two rounds, since Send and Wake of other threads need it.
  const auto progress_until = [this](auto done, std::chrono::milliseconds time) {
    const auto deadline = MonotonicClock::now() + time;
    for (;;) {
      MutexLock lock(mu_);
      if (done() || MonotonicClock::now() >= deadline) return;
      Progress();
    }
  };
  const auto nothing_is_sent = [this]() TB_REQUIRES(mu_) { return sending_.empty() || !broken_.ok(); };
  const auto nothing_is_used = [this]() TB_REQUIRES(mu_) { return sending_.empty() && receiving_.empty(); };
  if (is_connected()) {
    progress_until(nothing_is_sent, kEndTime);
    ucs_status_ptr_t closing;
    {
      MutexLock lock(mu_);
      ucp_request_param_t params{};
      params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      params.flags = UCP_EP_CLOSE_FLAG_FORCE;
      closing = ucx_.ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &params);
    }
    if (closing != nullptr && !UCS_PTR_IS_ERR(closing)) {
      progress_until([&] { return ucx_.ucp_request_check_status(closing) != UCS_INPROGRESS; }, kEndTime);
      ucx_.ucp_request_free(closing);
    }
    progress_until(nothing_is_used, kEndTime);
  }
  MutexLock lock(mu_);
  if (worker_ != nullptr) ucx_.ucp_worker_destroy(std::exchange(worker_, nullptr));
  sending_.clear();  // without a worker, nothing uses them
  receiving_.clear();
}

}  // namespace tensorbraid
