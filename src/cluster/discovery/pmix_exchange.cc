#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cluster/discovery/mpi_exchanges.h"
#include "cluster/discovery/pmix_library.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/stop.h"

namespace tensorbraid {
namespace {

constexpr char kRecordKey[] = "tensorbraid.record";
constexpr std::chrono::seconds kPmixLogEvery{5};

// A fence that runs. It outlives a caller that gives up, since PMIx cannot be told to forget it.
struct Fence {
  Mutex mu;
  CondVar done;
  std::optional<pmix::Result> result TB_GUARDED_BY(mu);
  bool stopped TB_GUARDED_BY(mu) = false;  // this process was asked to stop
};

void FenceDone(pmix::Result result, void* data) {
  const std::unique_ptr<std::shared_ptr<Fence>> fence(static_cast<std::shared_ptr<Fence>*>(data));
  MutexLock lock((*fence)->mu);
  (*fence)->result = result;
  (*fence)->done.NotifyAll();
}

class PmixExchange final : public RecordExchange {
 public:
  PmixExchange(const pmix::Library* library, int size, std::chrono::milliseconds timeout)
      : library_(library), size_(size), timeout_(timeout) {}

  StatusOr<std::vector<NamedRecord>> Gather(const NamedRecord& own) override {
    TF_RETURN_IF_ERROR(library_->Check("the start", library_->init(&self_, nullptr, 0)));
    auto records = GatherConnected(own);
    // Launchers take a process that leaves without this for one that has crashed.
    const Status finalized = library_->Check("the end", library_->finalize(nullptr, 0));
    if (records.ok()) TF_RETURN_IF_ERROR(finalized);
    return records;
  }

 private:
  StatusOr<std::vector<NamedRecord>> GatherConnected(const NamedRecord& own) {
    if (size_ == 0) {
      TF_RETURN_IF_ERROR(Get(pmix::kRankWildcard, pmix::kJobSize, [this](const pmix::Value& value) {
        if (value.type == pmix::kUint32) size_ = static_cast<int>(value.data.uint32);
      }));
      if (size_ == 0) return Unavailable("PMIx does not know the number of ranks");
    }
    std::string text = EncodeRecord(own.record);
    pmix::Value value{};
    value.type = pmix::kString;
    value.data.string = text.data();
    TF_RETURN_IF_ERROR(library_->Check("put", library_->put(pmix::kGlobal, kRecordKey, &value)));
    TF_RETURN_IF_ERROR(library_->Check("commit", library_->commit()));
    TF_RETURN_IF_ERROR(RunFence());
    std::vector<NamedRecord> records;
    for (int rank = 0; rank < size_; ++rank) {
      StatusOr<ProcessRecord> record = Unavailable("PMIx has no record of rank ", rank);
      TF_RETURN_IF_ERROR(Get(static_cast<uint32_t>(rank), kRecordKey, [&](const pmix::Value& got) {
        if (got.type == pmix::kString && got.data.string != nullptr) record = DecodeRecord(got.data.string);
      }));
      TF_RETURN_IF_ERROR(record);
      records.push_back({StrCat("rank ", rank), *std::move(record)});
    }
    return records;
  }

  // Waits until all ranks are here, and brings their values.
  Status RunFence() {
    const auto fence = std::make_shared<Fence>();
    pmix::Info collect{};
    std::snprintf(collect.key, sizeof collect.key, "%s", pmix::kCollectData);
    collect.value.type = pmix::kBool;
    collect.value.data.flag = true;
    auto held = std::make_unique<std::shared_ptr<Fence>>(fence);
    const pmix::Result started = library_->fence(nullptr, 0, &collect, 1, &FenceDone, held.get());
    if (started == pmix::kOperationSucceeded) return OkStatus();
    TF_RETURN_IF_ERROR(library_->Check("fence", started));
    static_cast<void>(held.release());  // FenceDone owns it
    const auto deadline = MonotonicClock::now() + timeout_;
    const OnStopRequest stop([fence] {
      MutexLock lock(fence->mu);
      fence->stopped = true;
      fence->done.NotifyAll();
    });
    MutexLock lock(fence->mu);
    const auto is_done = [&]() TB_REQUIRES(fence->mu) { return fence->result.has_value() || fence->stopped; };
    while (!fence->done.WaitUntil(fence->mu, std::min(deadline, MonotonicClock::now() + kPmixLogEvery), is_done)) {
      if (MonotonicClock::now() >= deadline) {
        return DeadlineExceeded("not all of the ", size_, " ranks have started within ", timeout_.count() / 1000.0,
                                " s (PMIx fence); do all of them run this program, and parse its flags?");
      }
      TB_LOG(Info, "discovery") << "waits for all " << size_ << " ranks to start (PMIx)";
    }
    if (!fence->result.has_value()) return Cancelled("asked to stop while waiting for the other ranks");
    return library_->Check("fence", *fence->result);
  }

  // Passes a value to `use`, and frees it.
  template <typename Use>
  Status Get(uint32_t rank, const char* key, const Use& use) {
    pmix::Process process = self_;
    process.rank = rank;
    pmix::Value* value = nullptr;
    TF_RETURN_IF_ERROR(library_->Check("get", library_->get(&process, key, nullptr, 0, &value)));
    if (value == nullptr) return OkStatus();
    use(*value);
    if (value->type == pmix::kString) std::free(value->data.string);
    std::free(value);
    return OkStatus();
  }

  const pmix::Library* const library_;
  int size_;
  const std::chrono::milliseconds timeout_;
  pmix::Process self_{};
};

}  // namespace

StatusOr<std::unique_ptr<RecordExchange>> NewPmixExchange(int size, std::chrono::milliseconds timeout) {
  TF_ASSIGN_OR_RETURN(const pmix::Library* const library, pmix::Library::Load());
  return std::make_unique<PmixExchange>(library, size, timeout);
}

}  // namespace tensorbraid
