#include "pjrt/device.h"

#include <utility>

#include "core/text/strings.h"
#include "pjrt/device_buffer.h"
#include "pjrt/device_elements.h"
#include "pjrt/in_flight.h"

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

StatusOr<Client*> PjrtDevice::client() {
  TF_ASSIGN_OR_RETURN(Client* const client, accelerator_.GetClient());
  if (id() < client->num_devices()) return client;
  return NotFound("there is no ", name(), ": the plugin '", client->plugin().path(), "' has ", client->num_devices(),
                  client->num_devices() == 1 ? " device" : " devices");
}

int64_t PjrtDevice::memory_limit() const {
  const Client* const client = accelerator_.client_if_made();
  if (client == nullptr || id() >= client->num_devices()) return 0;
  const auto memory = client->MemoryOf(id());
  return memory.ok() && memory->bytes_limit > 0 ? memory->bytes_limit : 0;
}

Allocator& PjrtDevice::allocator() { return *allocator_; }
ElementMemory* PjrtDevice::element_memory() { return elements_.get(); }

void PjrtDevice::Follow(Event done, std::shared_ptr<Loss> loss, std::function<void()> ended,
                        std::function<Status(const Status&)> explain) {
  const uint64_t work = in_flight_->Begin();
  const auto end = [in_flight = in_flight_, work, loss = std::move(loss), ended = std::move(ended),
                    explain = std::move(explain)](const Status& error) {
    if (ended != nullptr) ended();
    const Status status = error.ok() || explain == nullptr ? error : explain(error);
    in_flight->End(work, status.ok() || loss == nullptr ? status : loss->Happen(status));
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
  // The user of the copy waits for `done`. The end of a step does not wait for it, since a later step may be the user.
  in_flight_->BeginAside();
  const auto end = [in_flight = in_flight_, done = std::move(done), from](const Status& status) {
    in_flight->EndAside();
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
  const uint64_t work = in_flight_->Begin();
  const auto end = [in_flight = in_flight_, work, done = std::move(done), from, to](const Status& status) {
    in_flight->End(work, OkStatus());
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
  in_flight_->End(in_flight_->Begin(), ShareValue(from, to));
}

void PjrtDevice::WhenIdle(Done done) { in_flight_->WhenDone(std::move(done)); }

void PjrtDevice::Stop() {
  stopped_ = true;
  in_flight_->Wait();
}

}  // namespace tensorbraid::pjrt
