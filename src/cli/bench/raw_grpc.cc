#include "cli/bench/raw_grpc.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/text/strings.h"
#include "transport/grpc/connection_listener.h"
#include "transport/grpc/grpc_transport.h"
#include "transport/grpc/own_user.h"
#include "transport/grpc/settings.h"

namespace tensorbraid::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kServeArgument[] = "--serve-raw-grpc";

// A request of the client: one message, followed by the data if it is a push.
struct Request {
  enum Kind : uint64_t { kPing, kPush, kPushAdd, kPull } kind;
  uint64_t bytes;
  uint64_t message_bytes;
};

grpc::ByteBuffer BufferOf(const void* data, size_t size) {
  const grpc::Slice slice(data, size);
  return grpc::ByteBuffer(&slice, 1);
}

// One end of a stream, with blocking calls on its own completion queue. One read is always outstanding, so that the
// next message arrives while the last one is copied. All functions return false when the stream has ended.
template <typename Rw>
class BlockingStream {
 public:
  BlockingStream(Rw* rw, grpc::CompletionQueue* queue) : rw_(rw), queue_(queue) {}
  void StartRead() { rw_->Read(&incoming_, this); }

  bool Write(const grpc::ByteBuffer& message) {
    rw_->Write(message, &wrote_);
    written_ = false;
    while (!written_) {
      if (!Step()) return false;
    }
    return true;
  }
  // Waits for the write of WriteLater.
  bool Flush() {
    while (!written_) {
      if (!Step()) return false;
    }
    return true;
  }
  // As Write, but returns at once. Flush must follow before the next write.
  void WriteLater(const grpc::ByteBuffer& message) {
    rw_->Write(message, &wrote_);
    written_ = false;
  }
  bool Read(grpc::ByteBuffer* message) {
    while (!have_) {
      if (!Step()) return false;
    }
    have_ = false;
    message->Swap(&incoming_);
    incoming_.Clear();
    StartRead();
    return true;
  }
  // Sends `size` bytes of `data` without copying.
  bool Send(const char* data, size_t size, size_t message_bytes) {
    for (size_t at = 0; at < size; at += message_bytes) {
      const grpc::Slice slice(data + at, std::min(message_bytes, size - at), grpc::Slice::STATIC_SLICE);
      if (!Write(grpc::ByteBuffer(&slice, 1))) return false;
    }
    return true;
  }
  // Receives `size` bytes: copies them to `into`, or adds them, as floats, to what `into` holds.
  bool Receive(std::vector<float>* into, size_t size, bool add) {
    into->resize((size + 3) / 4);
    auto* to = reinterpret_cast<char*>(into->data());
    grpc::ByteBuffer message;
    std::vector<grpc::Slice> slices;
    for (size_t at = 0; at < size;) {
      if (!Read(&message)) return false;
      slices.clear();
      if (!message.Dump(&slices).ok()) return false;
      for (const grpc::Slice& slice : slices) {
        if (at + slice.size() > size) return false;
        if (add) {
          AddBytes(to, at, slice);
        } else {
          std::memcpy(to + at, slice.begin(), slice.size());
        }
        at += slice.size();
      }
    }
    return true;
  }

 private:
  // Adds float by float, even where a float is split between two slices.
  void AddBytes(char* to, size_t at, const grpc::Slice& slice) {
    const auto* from = reinterpret_cast<const char*>(slice.begin());
    size_t left = slice.size();
    while (left > 0) {
      if (at % 4 == 0 && left >= 4) {
        const size_t n = left / 4;
        auto* sum = reinterpret_cast<float*>(to + at);
        for (size_t i = 0; i < n; ++i) {
          float x;
          std::memcpy(&x, from + 4 * i, 4);
          sum[i] += x;
        }
        from += 4 * n;
        at += 4 * n;
        left -= 4 * n;
        continue;
      }
      split_[at % 4] = *from++;
      if (at++ % 4 == 3) {
        float x;
        std::memcpy(&x, split_, 4);
        reinterpret_cast<float*>(to)[(at - 1) / 4] += x;
      }
      --left;
    }
  }

  // Waits for the next event as the threads of our transport do: after each event it polls for a while before it
  // sleeps.
  bool Step() {
    void* tag;
    bool ok;
    while (Clock::now() < awake_until_) {
      const auto got = queue_->AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC));
      if (got == grpc::CompletionQueue::SHUTDOWN) return false;
      if (got == grpc::CompletionQueue::GOT_EVENT) return HandleEvent(tag, ok);
      sched_yield();
    }
    return queue_->Next(&tag, &ok) && HandleEvent(tag, ok);
  }
  // Records that an operation is complete. The tag of the read is `this`, the tag of a write is `&wrote_`.
  bool HandleEvent(void* tag, bool ok) {
    if (!ok) return false;
    (tag == this ? have_ : written_) = true;
    awake_until_ = Clock::now() + GrpcOptions().stay_awake;
    return true;
  }

  Rw* const rw_;
  grpc::CompletionQueue* const queue_;
  grpc::ByteBuffer incoming_;
  bool have_ = false;
  bool written_ = true;
  Clock::time_point awake_until_{};
  char wrote_ = 0;      // only its address is used
  char split_[4] = {};  // the bytes of a float of which a part has arrived
};

void Serve(const char* fd) {
  InitGrpc();
  const auto credentials = grpc::InsecureServerCredentials();
  grpc::AsyncGenericService service;
  grpc::ServerBuilder builder;
  ConfigureServer({}, std::chrono::seconds(10), &builder);
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
  builder.RegisterAsyncGenericService(&service);
  auto queue = builder.AddCompletionQueue();
  auto server = builder.BuildAndStart();
  const auto listener = ConnectionListener::Bind({"127.0.0.1", 0});
  if (server == nullptr || listener == nullptr) std::_Exit(1);
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter rw(&context);
  service.RequestCall(&context, &rw, queue.get(), queue.get(), &service);
  // As with our servers, other users of the machine are refused.
  listener->Start(std::move(acceptor), std::make_unique<RefusingServer>(credentials, WhyRefused()), 0, 0);
  ReportToParent(fd, listener->port());
  void* tag;
  bool ok;
  if (!queue->Next(&tag, &ok) || !ok) std::_Exit(1);
  BlockingStream<grpc::GenericServerAsyncReaderWriter> stream(&rw, queue.get());
  stream.StartRead();
  std::vector<float> buffer;
  grpc::ByteBuffer message;
  while (stream.Read(&message)) {
    grpc::Slice slice;
    Request request;
    if (!message.DumpToSingleSlice(&slice).ok() || slice.size() < sizeof request) break;
    std::memcpy(&request, slice.begin(), sizeof request);
    if (!stream.Flush()) break;  // the answer to the request before
    if (request.kind == Request::kPull) {
      buffer.resize((request.bytes + 3) / 4, 1.0f);
      if (!stream.Send(reinterpret_cast<const char*>(buffer.data()), request.bytes, request.message_bytes)) break;
      continue;
    }
    if (request.kind != Request::kPing && !stream.Receive(&buffer, request.bytes, request.kind == Request::kPushAdd)) {
      break;
    }
    stream.WriteLater(message);
  }
  std::_Exit(0);
}

class Client final : public RawGrpc {
 public:
  Client(OwnUserConnection connection, int pid)
      : pid_(pid),
        connection_(std::move(connection)),
        stub_(connection_.channel),
        rw_(stub_.PrepareCall(&context_, "/raw.Stream/Stream", &queue_)),
        stream_(rw_.get(), &queue_) {}
  ~Client() override {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
    StopChild(pid_);
  }
  bool Open() {
    rw_->StartCall(this);
    void* tag;
    bool ok;
    if (!queue_.Next(&tag, &ok) || !ok) return false;
    stream_.StartRead();
    return true;
  }

  StatusOr<double> Push(size_t bytes, size_t message_bytes, bool add) override {
    source_.resize((bytes + 3) / 4, 1.0f);
    const Request request{add ? Request::kPushAdd : Request::kPush, bytes, message_bytes};
    grpc::ByteBuffer answer;
    const auto begin = Clock::now();
    if (!stream_.Write(BufferOf(&request, sizeof request)) ||
        !stream_.Send(reinterpret_cast<const char*>(source_.data()), bytes, message_bytes) || !stream_.Read(&answer)) {
      return Lost();
    }
    return Ms(begin);
  }
  StatusOr<double> Pull(size_t bytes, size_t message_bytes) override {
    const Request request{Request::kPull, bytes, message_bytes};
    const auto begin = Clock::now();
    if (!stream_.Write(BufferOf(&request, sizeof request)) || !stream_.Receive(&target_, bytes, false)) return Lost();
    return Ms(begin);
  }
  StatusOr<double> PingPong(size_t message_bytes, int count) override {
    std::string text(std::max(message_bytes, sizeof(Request)), 0);
    grpc::ByteBuffer answer;
    const auto begin = Clock::now();
    for (int i = 0; i < count; ++i) {
      if (!stream_.Flush()) return Lost();
      stream_.WriteLater(BufferOf(text.data(), text.size()));
      if (!stream_.Read(&answer)) return Lost();
    }
    const double us = Ms(begin) * 1e3 / count;
    if (!stream_.Flush()) return Lost();
    return us;
  }

 private:
  static double Ms(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  static Status Lost() { return absl::UnavailableError("raw gRPC: the stream has ended"); }

  const int pid_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  const OwnUserConnection connection_;
  grpc::GenericStub stub_;
  const std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rw_;
  BlockingStream<grpc::GenericClientAsyncReaderWriter> stream_;
  std::vector<float> source_, target_;
};

template <typename Run>
StatusOr<RawGrpcResult> BestOf(size_t bytes, int repeats, const Run& run) {
  TF_ASSIGN_OR_RETURN(auto raw, RawGrpc::Start());
  RawGrpcResult best;
  best.min_ms = std::numeric_limits<double>::infinity();
  for (const size_t message_bytes : kRawGrpcMessageBytes) {
    std::vector<double> times;
    TF_RETURN_IF_ERROR(run(*raw, message_bytes).status());  // allocates the buffers
    for (int i = 0; i < repeats; ++i) {
      TF_ASSIGN_OR_RETURN(const double ms, run(*raw, message_bytes));
      times.push_back(ms);
    }
    const double min = *std::min_element(times.begin(), times.end());
    if (min < best.min_ms) best = {min, Median(times), static_cast<double>(bytes) / min / 1e6, message_bytes};
  }
  return best;
}

}  // namespace

void MaybeServeRawGrpc(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], kServeArgument) == 0) Serve(argv[2]);
}

StatusOr<std::unique_ptr<RawGrpc>> RawGrpc::Start() {
  InitGrpc();
  int pid = 0;
  TF_ASSIGN_OR_RETURN(const int port, StartChild(kServeArgument, &pid));
  auto connection = ConnectForOwnUser(StrCat("127.0.0.1:", port));
  if (!connection.ok()) {
    StopChild(pid);
    return Annotate(connection.status(), "raw gRPC");
  }
  auto client = std::make_unique<Client>(*std::move(connection), pid);
  if (!client->Open()) return absl::UnavailableError("raw gRPC: cannot connect to the server process");
  return client;
}

StatusOr<RawGrpcResult> RawGrpcPush(size_t bytes, int repeats, bool add_on_receive) {
  return BestOf(bytes, repeats, [=](RawGrpc& raw, size_t m) { return raw.Push(bytes, m, add_on_receive); });
}

StatusOr<RawGrpcResult> RawGrpcPull(size_t bytes, int repeats) {
  return BestOf(bytes, repeats, [=](RawGrpc& raw, size_t m) { return raw.Pull(bytes, m); });
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

StatusOr<int> StartChild(const char* argument, int* pid) {
  int fds[2];
  if (pipe(fds) != 0) return absl::ErrnoToStatus(errno, "cannot create a pipe");
  const std::string fd = std::to_string(fds[1]);
  *pid = fork();
  if (*pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(fds[0]);
    execl("/proc/self/exe", "benchmark", argument, fd.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(fds[1]);
  int number = 0;
  const bool told = *pid > 0 && read(fds[0], &number, sizeof number) == sizeof number;
  close(fds[0]);
  if (!told) return absl::UnavailableError("the child process did not start");
  return number;
}

void ReportToParent(const char* fd, int number) {
  const int to = std::atoi(fd);
  if (write(to, &number, sizeof number) != sizeof number) _exit(1);
  close(to);
}

void StopChild(int pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace tensorbraid::bench
