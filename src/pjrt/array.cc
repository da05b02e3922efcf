#include "pjrt/array.h"

#include "pjrt/client.h"

namespace tensorbraid::pjrt {

Array::Array(const Client& client, c_api::Buffer* buffer, int device)
    : client_(client), buffer_(buffer), device_(device) {}

Array::~Array() {
  c_api::BufferDestroyArgs args{.buffer = buffer_};
  client_.Call(&c_api::Api::Buffer_Destroy, args).IgnoreError();
}

StatusOr<Event> Array::ToHost(void* out, size_t size) const {
  c_api::BufferToHostBufferArgs args{.src = buffer_, .dst = out, .dst_size = size};
  TF_RETURN_IF_ERROR(client_.Call(&c_api::Api::Buffer_ToHostBuffer, args));
  return Event(client_, args.event);
}

StatusOr<Event> Array::Ready() const {
  c_api::BufferReadyEventArgs args{.buffer = buffer_};
  TF_RETURN_IF_ERROR(client_.Call(&c_api::Api::Buffer_ReadyEvent, args));
  return Event(client_, args.event);
}

StatusOr<RefPtr<Array>> Array::CopyTo(int device) const {
  c_api::BufferCopyToDeviceArgs args{.buffer = buffer_, .dst_device = client_.device(device)};
  TF_RETURN_IF_ERROR(client_.Call(&c_api::Api::Buffer_CopyToDevice, args));
  return MakeRef<Array>(client_, args.dst_buffer, device);
}

StatusOr<bool> Array::IsConsumed() const {
  c_api::BufferIsDeletedArgs args{.buffer = buffer_};
  TF_RETURN_IF_ERROR(client_.Call(&c_api::Api::Buffer_IsDeleted, args));
  return args.is_deleted;
}

}  // namespace tensorbraid::pjrt
