#include "transport/grpc/stream.h"

namespace tensorbraid {

WorkerService::WorkerService() {
  for (int i = 0; i < kNumChannels; ++i) {
    AddMethod(
        new grpc::internal::RpcServiceMethod(kChannelMethods[i], grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodAsync(i);
  }
}

void Stream::Open(ChannelKind kind, grpc::CompletionQueue* queue, Tag* tag) {
  opened_->rw = opened_->stub.PrepareCall(&opened_->context, kChannelMethods[kind], queue);
  opened_->rw->StartCall(tag);
}

void Stream::Read(grpc::ByteBuffer* into, Tag* tag) {
  accepted_ ? accepted_->rw.Read(into, tag) : opened_->rw->Read(into, tag);
}

void Stream::Write(const grpc::ByteBuffer& message, Tag* tag) {
  accepted_ ? accepted_->rw.Write(message, tag) : opened_->rw->Write(message, tag);
}

void Stream::End(Tag* tag) { accepted_ ? accepted_->rw.Finish(grpc::Status::OK, tag) : opened_->rw->WritesDone(tag); }

void Stream::Cancel() { accepted_ ? accepted_->context.TryCancel() : opened_->context.TryCancel(); }

bool Stream::Finish(grpc::Status* why, Tag* tag) {
  if (accepted_) return false;
  opened_->rw->Finish(why, tag);
  return true;
}

}  // namespace tensorbraid
