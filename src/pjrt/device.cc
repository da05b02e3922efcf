#include "pjrt/device.h"

#include <utility>

#include "core/text/strings.h"
#include "pjrt/device_buffer.h"
#include "pjrt/device_elements.h"
#include "pjrt/in_flight.h"
#include "pjrt/loss.h"

namespace tensorbraid::pjrt {
namespace {

// Bytes of a copy to the host that a thread may wait for.
constexpr size_t kBriefCopy = 16 * 1024;

}  // namespace

// Makes buffers without a value, which takes no memory: the plugin allocates when it makes the value.
class PjrtDevice::DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  MemorySpace space() const override { return MemorySpace::kDevice; }
  RefPtr<Buffer> Allocate(size_t size) override { return MakeRef<DeviceBuffer>(size, this, count_); }
  AllocatorStats stats() const override { return {.bytes_in_use = count_->in_use(), .bytes_cached = 0}; }

 private:
  const std::string name_;
  const std::shared_ptr<MemoryCount> count_ = std::make_shared<MemoryCount>();
};

PjrtDevice::PjrtDevice(int id, Accelerator& accelerator)
    : Device(accelerator.device_type(), id),
      accelerator_(accelerator),
      allocator_(std::make_unique<DeviceAllocator>(name())),
      in_flight_(std::make_shared<InFlight>()),
      elements_(std::make_unique<DeviceElements>(*this)) {
  accelerator_.Expect(id + 1);
}

PjrtDevice::~PjrtDevice() = default;

StatusOr<Client*> PjrtDevice::client() { return accelerator_.ClientWith(id()); }

int64_t PjrtDevice::memory_limit() const {
  const Client* const client = accelerator_.client_if_made();
  if (client == nullptr || id() >= client->num_devices()) return 0;
  const auto memory = client->MemoryOf(id());
  return memory.ok() && memory->bytes_limit > 0 ? memory->bytes_limit : 0;
}

Allocator& PjrtDevice::allocator() { return *allocator_; }
ElementMemory* PjrtDevice::element_memory() { return elements_.get(); }

void PjrtDevice::Follow(Event done, FollowedWork work) {
  const CancellationManager* const step = work.step;
  const uint64_t number = in_flight_->Begin(step);
  const auto end = [in_flight = in_flight_, step, number, work = std::move(work)](const Status& error) {
    if (work.ended != nullptr) work.ended();
    const Status status = error.ok() || work.explain == nullptr ? error : work.explain(error);
    in_flight->End(step, number, status.ok() || work.loss == nullptr ? status : work.loss->Happen(status));
  };
  if (stopped_) {
    end(done.Await());
  } else {
    done.OnReady(end);
  }
}

void PjrtDevice::Copy(const Tensor& from, Tensor to, Done done) {
  const bool from_host = from.buffer()->space() == MemorySpace::kHost;
  const bool to_host = to.buffer()->space() == MemorySpace::kHost;
  if (from_host && to_host) {
    HostDevice().Copy(from, std::move(to), std::move(done));
  } else if (from_host) {
    CopyToDevice(from, to, std::move(done));
  } else if (to_host) {
    CopyToHost(from, std::move(to), std::move(done));
  } else {
    done(ShareValue(from, to));
  }
}

void PjrtDevice::CopyToDevice(const Tensor& from, const Tensor& to, Done done) {
  const auto client = this->client();
  if (!client.ok()) return done(client.status());
  const auto buffer = DeviceBuffer::Of(to);
  if (!buffer.ok()) return done(buffer.status());
  // The user of the copy waits for `done`. No step waits for it at its end, since a later step may be the user.
  const uint64_t work = in_flight_->Begin(nullptr);
  const auto end = [in_flight = in_flight_, work, done = std::move(done), from](const Status& status) {
    in_flight->End(nullptr, work, OkStatus());
    done(status);
  };
  Event copied;
  auto array = (*client)->ToDevice(from, index(), &copied);
  if (!array.ok()) return end(array.status());
  (*buffer)->Set(*std::move(array));
  copied.OnReady(end);
}

void PjrtDevice::CopyToHost(const Tensor& from, Tensor to, Done done) {
  const auto array = ArrayOf(from);
  if (!array.ok()) return done(array.status());
  if (const SharedPlace place = SharedPlaceOf(*to.buffer(), to.raw_data()); place.segment != nullptr) {
    if (const auto client = this->client(); client.ok()) (*client)->Pin(*place.segment);
  }
  // If the device has nothing to do, the copy of a few elements takes less time than a change of threads.
  const bool is_brief = to.num_bytes() <= kBriefCopy && in_flight_->IsIdle();
  const uint64_t work = in_flight_->Begin(nullptr);
  const auto end = [in_flight = in_flight_, work, done = std::move(done), from, to](const Status& status) {
    in_flight->End(nullptr, work, OkStatus());
    const Status lost = status.ok() ? OkStatus() : WhyLost(from);
    done(lost.ok() ? status : lost);
  };
  auto copied = (*array)->ToHost(to.inplace_raw_data(), to.num_bytes());
  if (!copied.ok()) return end(copied.status());
  if (is_brief) return end(copied->Await());
  copied->OnReady(end);
}

Status PjrtDevice::ShareValue(const Tensor& from, const Tensor& to) {
  TF_ASSIGN_OR_RETURN(Array* const array, ArrayOf(from));
  TF_ASSIGN_OR_RETURN(DeviceBuffer* const buffer, DeviceBuffer::Of(to));
  buffer->Set(RefPtr<Array>::Share(array), DeviceBuffer::Of(from).value()->loss());
  return OkStatus();
}

void PjrtDevice::CopyInStream(const Tensor& from, Tensor to) {
  if (ShareValue(from, to).ok()) return;
  const auto source = DeviceBuffer::Of(from), target = DeviceBuffer::Of(to);
  if (source.ok() && target.ok()) (*target)->Lose((*source)->loss());
}

void PjrtDevice::WhenIdle(Done done) { in_flight_->WhenDone(nullptr, std::move(done)); }

void PjrtDevice::WhenStepIsDone(const CancellationManager* step, Done done) {
  in_flight_->WhenDone(step, std::move(done));
}

void PjrtDevice::Stop() {
  stopped_ = true;
  in_flight_->Wait();
}

}  // namespace tensorbraid::pjrt
