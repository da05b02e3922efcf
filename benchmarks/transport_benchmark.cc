// Measures our transport and raw gRPC alternately: latency of small messages, throughput of 100 MB. Prints JSON lines.
//   transport_benchmark [--repeats N [--part-kib N]]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "cli/bench/raw_grpc.h"
#include "core/memory/allocator.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "tensorbraid/core/flags.h"
#include "transport/grpc/grpc_transport.h"

namespace tensorbraid::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr char kServeArgument[] = "--serve-transport";
constexpr size_t kPushBytes = 100'000'000;

double MsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Sends small tensors back. Copies large ones into a buffer, and sends StepDone when one is complete.
class ServerHandler : public LinkHandler {
 public:
  explicit ServerHandler(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  void OnMessage(Message message) override {
    if (auto* eager = std::get_if<EagerTensor>(&message)) {
      RefPtr<Buffer> copy = AllocateBuffer(eager->payload.size());
      eager->payload.CopyTo(copy->data());
      eager->payload.pieces.assign(1, {static_cast<const std::byte*>(copy->data()), eager->meta.bytes});
      eager->payload.owner = std::move(copy);
      link_->Send(std::move(message));
    } else if (auto* part = std::get_if<BulkTensor>(&message)) {
      if (!buffer_ || buffer_->size() < part->meta.bytes) buffer_ = AllocateBuffer(part->meta.bytes);
      part->payload.CopyTo(static_cast<std::byte*>(buffer_->data()) + part->offset);
      if (part->offset + part->payload.size() == part->meta.bytes) link_->Send(StepDone{part->key.step, OkStatus()});
    }
  }
  void OnLinkDown(const Status&) override { std::_Exit(0); }

 private:
  const std::shared_ptr<Link> link_;
  RefPtr<Buffer> buffer_;
};

// The side that answers, in a process of its own.
class Server : public LinkAcceptor {
 public:
  Status OnHello(const Hello&, Hello* answer) override {
    answer->task = "server";
    return OkStatus();
  }
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) override {
    return std::make_shared<ServerHandler>(link);
  }
};

void Serve(const char* fd) {
  Server server;
  auto transport = NewGrpcTransport();
  auto port = transport->Listen("localhost:0", &server);
  if (!port.ok()) std::_Exit(1);
  ReportToParent(fd, *port);
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// The side that measures. Has one link.
class Client : public LinkAcceptor, public LinkHandler {
 public:
  Status OnHello(const Hello&, Hello*) override { return OkStatus(); }
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) override {
    MutexLock lock(mu_);
    link_ = link;
    cv_.NotifyAll();
    return {std::shared_ptr<void>(), this};  // not owned
  }
  void OnMessage(Message message) override {
    if (std::holds_alternative<EagerTensor>(message)) {
      if (timing_) {
        latencies_.push_back(1e3 * MsSince(sent_));
        sent_ = Clock::now();
      }
      if (--pings_ > 0) {
        link_->Send(Ping());
        return;
      }
    }
    MutexLock lock(mu_);
    done_ = true;
    cv_.NotifyAll();
  }
  void OnLinkDown(const Status& why) override {
    if (!leaving) {
      std::fprintf(stderr, "%s\n", ToString(why).c_str());
      std::_Exit(1);
    }
  }

  std::shared_ptr<Link> WaitForLink() {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [&] { return link_ != nullptr; });
    return link_;
  }
  // Microseconds per exchange, the mean of `count` exchanges.
  double PingPong(Link& link, int count) {
    pings_ = count;
    const auto begin = Clock::now();
    link.Send(Ping());
    WaitDone();
    return MsSince(begin) * 1e3 / count;
  }
  // Microseconds of each of `count` exchanges, one after the other.
  std::vector<double> Latencies(Link& link, int count) {
    timing_ = true;
    latencies_.clear();
    sent_ = Clock::now();
    PingPong(link, count);
    timing_ = false;
    return latencies_;
  }
  double Push(Link& link, const RefPtr<Buffer>& source) {
    const auto begin = Clock::now();
    Bulk(link, source);
    WaitDone();
    return MsSince(begin);
  }
  void Bulk(Link& link, const RefPtr<Buffer>& source) {
    BulkTensor tensor;
    tensor.meta = {.dtype = kUint8, .shape = {static_cast<int64_t>(kPushBytes)}, .bytes = kPushBytes};
    tensor.payload.owner = source;
    tensor.payload.pieces.push_back({static_cast<const std::byte*>(source->data()), kPushBytes});
    link.Send(std::move(tensor));
  }
  std::atomic<bool> leaving{false};

 private:
  static EagerTensor Ping() {
    static const RefPtr<Buffer> four = AllocateBuffer(4);
    EagerTensor ping;
    ping.meta = {.dtype = kFloat32, .shape = {}, .bytes = 4};
    ping.payload.owner = four;
    ping.payload.pieces.push_back({static_cast<const std::byte*>(four->data()), 4});
    return ping;
  }
  void WaitDone() {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [&] { return done_; });
    done_ = false;
  }

  Mutex mu_;
  CondVar cv_;
  std::shared_ptr<Link> link_;
  bool done_ = false;
  std::atomic<int> pings_{0};
  std::atomic<bool> timing_{false};
  Clock::time_point sent_;
  std::vector<double> latencies_;
};

Status Run(int repeats, const GrpcOptions& options) {
  int pid = 0;
  TF_ASSIGN_OR_RETURN(const int port, StartChild(kServeArgument, &pid));
  TF_ASSIGN_OR_RETURN(auto raw, RawGrpc::Start());
  Client client;
  auto transport = NewGrpcTransport(options);
  TF_RETURN_IF_ERROR(transport->Listen("localhost:0", &client).status());
  Hello hello;
  hello.task = "client";
  transport->Connect(StrCat("localhost:", port), hello, std::chrono::seconds(10),
                     [](StatusOr<std::shared_ptr<Link>> link) {
                       if (!link.ok()) std::_Exit(ExitCode(link.status()));
                     });
  const auto link = client.WaitForLink();

  constexpr int kPings = 3000;
  std::vector<double> ours, theirs;
  for (int i = 0; i <= repeats; ++i) {
    const double us = client.PingPong(*link, kPings);
    TF_ASSIGN_OR_RETURN(const double raw_us, raw->PingPong(/*message_bytes=*/80, kPings));
    if (i == 0) continue;  // the first round only warms up
    ours.push_back(us);
    theirs.push_back(raw_us);
  }
  const auto min = [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); };
  std::printf(
      "{\"bench\":\"transport_ping_pong\",\"bytes\":4,\"min_us\":%.1f,\"median_us\":%.1f,\"baseline\":\"raw_grpc\","
      "\"baseline_min_us\":%.1f,\"baseline_median_us\":%.1f,\"ratio\":%.2f}\n",
      min(ours), Median(ours), min(theirs), Median(theirs), Median(theirs) / Median(ours));
  std::fflush(stdout);

  const RefPtr<Buffer> source = AllocateBuffer(kPushBytes);
  std::memset(source->data(), 1, kPushBytes);
  ours.clear();
  std::vector<double> raw_by_size[3];
  for (int i = 0; i <= repeats; ++i) {
    for (int s = 0; s < 3; ++s) {
      const double ms = client.Push(*link, source);
      TF_ASSIGN_OR_RETURN(const double raw_ms,
                          raw->Push(kPushBytes, kRawGrpcMessageBytes[s], /*add_on_receive=*/false));
      if (i == 0) continue;
      ours.push_back(ms);
      raw_by_size[s].push_back(raw_ms);
    }
  }
  int best = 0;
  for (int s = 0; s < 3; ++s) {
    std::fprintf(stderr, "raw gRPC, messages of %zu KiB: min %.1f ms, median %.1f ms\n", kRawGrpcMessageBytes[s] >> 10,
                 min(raw_by_size[s]), Median(raw_by_size[s]));
    if (Median(raw_by_size[s]) < Median(raw_by_size[best])) best = s;
  }
  std::printf(
      "{\"bench\":\"transport_push\",\"mb\":100,\"min_ms\":%.1f,\"median_ms\":%.1f,\"gb_s\":%.2f,\"baseline\":"
      "\"raw_grpc\",\"baseline_min_ms\":%.1f,\"baseline_median_ms\":%.1f,\"baseline_gb_s\":%.2f,\"ratio\":%.2f}\n",
      min(ours), Median(ours), kPushBytes / 1e6 / min(ours), min(raw_by_size[best]), Median(raw_by_size[best]),
      kPushBytes / 1e6 / min(raw_by_size[best]), Median(raw_by_size[best]) / Median(ours));
  std::fflush(stdout);

  // Latency of small messages while large ones are in flight.
  for (int i = 0; i < 10; ++i) client.Bulk(*link, source);
  std::vector<double> busy = client.Latencies(*link, 1000);
  std::sort(busy.begin(), busy.end());
  std::printf("{\"bench\":\"transport_ping_pong_during_push\",\"median_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n",
              busy[busy.size() / 2], busy[busy.size() * 99 / 100], busy.back());
  client.leaving = true;
  transport->Shutdown();
  StopChild(pid);
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid::bench

int main(int argc, char** argv) {
  using namespace tensorbraid::bench;
  MaybeServeRawGrpc(argc, argv);
  if (argc == 3 && std::strcmp(argv[1], kServeArgument) == 0) Serve(argv[2]);
  tensorbraid::Flags flags(
      "Measures the gRPC transport alone, between two processes, and a plain gRPC stream for comparison.");
  auto& repeats = flags.Define("repeats", 10, "repetitions of each measurement");
  auto& part_kib = flags.Define("part_kib", 1024, "size of the parts in which large tensors are sent, in KiB");
  flags.ParseOrExit(argc, argv);
  tensorbraid::GrpcOptions options;
  options.bulk_part_bytes = static_cast<size_t>(std::max(1, part_kib)) << 10;
  return tensorbraid::ExitCode(Run(std::max(1, repeats), options));
}
