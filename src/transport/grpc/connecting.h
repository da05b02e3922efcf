// Connects to another task: opens the two channels of a link, and exchanges the handshake.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CONNECTING_H_
#define TENSORBRAID_TRANSPORT_GRPC_CONNECTING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/system/timer.h"
#include "core/threads/mutex.h"
#include "transport/grpc/channel.h"
#include "transport/grpc/grpc_link.h"
#include "transport/transport.h"

namespace tensorbraid {

// The error of links and attempts that the end of their transport ends.
const Status& WasShutDown();

// One attempt to connect, until its link is up or it has failed. Thread-safe; blocks nowhere.
class Connecting : public std::enable_shared_from_this<Connecting> {
 public:
  // What an attempt needs of its transport.
  class Owner {
   public:
    using Opened = std::function<void(const std::shared_ptr<Channel>& channel, bool ok)>;
    virtual ~Owner() = default;
    virtual Timer& timer() = 0;
    // A random number.
    virtual uint64_t NewLinkId() = 0;
    virtual std::shared_ptr<Channel> NewChannel(ChannelKind kind) = 0;
    // InvalidArgument if the token must not be sent to this address; the errors of ConnectForOwnUser.
    virtual Status OpenChannel(const std::shared_ptr<Channel>& channel, const std::string& address, Opened opened) = 0;
    // The error of an attempt whose stream has ended.
    virtual Status NoTaskAnswers(const std::string& address, const Status& why) const = 0;
    // Null if the transport has been shut down.
    virtual std::shared_ptr<GrpcLink> NewLink(Hello peer, std::shared_ptr<Channel> control,
                                              std::shared_ptr<Channel> bulk) = 0;
    // Called last. The owner then drops the attempt.
    virtual void ConnectEnded(const std::shared_ptr<Connecting>& connecting) = 0;
  };
  // `owner` must outlive the attempt.
  Connecting(Owner* owner, std::string address, Hello hello, Transport::ConnectDone done)
      : owner_(owner), address_(std::move(address)), hello_(std::move(hello)), done_(std::move(done)) {}
  // Opens the two channels. Afterwards calls `done` once, on another thread.
  void Start(std::chrono::milliseconds timeout);
  // Ends the attempt with this error, unless it has ended.
  void Fail(const Status& why);

 private:
  void Open(ChannelKind kind);
  void Opened(const std::shared_ptr<Channel>& channel, bool ok);
  Channel::ReadNext OnAnswer(const grpc::ByteBuffer& message);
  // Ends the attempt. The first call returns `done` and decides the result; later calls return null.
  Transport::ConnectDone Finish(std::shared_ptr<Channel> (*channels)[kNumChannels]);

  Owner* const owner_;
  const std::string address_;
  const Hello hello_;
  uint64_t link_id_ = 0;
  Mutex mu_;
  Transport::ConnectDone done_ TB_GUARDED_BY(mu_);
  std::shared_ptr<Channel> channels_[kNumChannels] TB_GUARDED_BY(mu_);
  Timer::Id timer_ TB_GUARDED_BY(mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CONNECTING_H_
