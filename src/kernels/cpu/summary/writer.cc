// Kernels that write summaries to files from within a graph.

#include "core/system/clock.h"
#include "core/text/strings.h"
#include "graph/format/tensor_proto.h"
#include "io/summary.pb.h"
#include "kernels/cpu/io/file_kernel.h"
#include "kernels/cpu/scalar_input.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/summary_writer.h"

namespace tensorbraid::cpu {
namespace {

using Writer = SummaryWriterResource;

class SummaryWriterKernel final : public HandleKernel<Writer> {
 public:
  explicit SummaryWriterKernel(const KernelConstruction& c) : HandleKernel(c) {}

 protected:
  RefPtr<Writer> Create() const override { return MakeRef<Writer>(name()); }
  Status Check(const Writer&) const override { return OkStatus(); }
};

Status Open(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto writer, ctx.LookupResource<Writer>(0));
  Writer::Options options;
  TF_ASSIGN_OR_RETURN(const std::string* directory, TextOf(ctx, 1, "logdir"));
  options.directory = *directory;
  TF_ASSIGN_OR_RETURN(options.max_queue, ScalarInput<int32_t>(ctx, 2, "max_queue"));
  TF_ASSIGN_OR_RETURN(options.flush_millis, ScalarInput<int32_t>(ctx, 3, "flush_millis"));
  TF_ASSIGN_OR_RETURN(const std::string* suffix, TextOf(ctx, 4, "filename_suffix"));
  options.suffix = *suffix;
  return writer->Open(options);
}

// Writes an event with the current time and the step in input 1.
Status WriteEvent(KernelContext& ctx, proto::Event event) {
  TF_ASSIGN_OR_RETURN(const auto writer, ctx.LookupResource<Writer>(0));
  TF_ASSIGN_OR_RETURN(const int64_t step, ScalarInput<int64_t>(ctx, 1, "the step"));
  event.set_step(step);
  event.set_wall_time(WallClock::Seconds());
  return writer->Write(event.SerializeAsString());
}

Status WriteSummary(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* tag, TextOf(ctx, 3, "the tag"));
  TF_ASSIGN_OR_RETURN(const std::string* metadata, TextOf(ctx, 4, "summary_metadata"));
  proto::Event event;
  proto::Summary::Value* value = event.mutable_summary()->add_value();
  value->set_tag(*tag);
  if (!value->mutable_metadata()->ParseFromString(*metadata)) {
    return InvalidArgument("summary_metadata is not a serialized SummaryMetadata message");
  }
  ToProto(ctx.input(2), value->mutable_tensor());
  return WriteEvent(ctx, std::move(event));
}

Status WriteRawProtoSummary(KernelContext& ctx) {
  proto::Event event;
  TF_ASSIGN_OR_RETURN(const std::string* summary, TextOf(ctx, 2, "the summary"));
  if (!event.mutable_summary()->ParseFromString(*summary))
    return DataLoss("the tensor is not a serialized Summary message");
  return WriteEvent(ctx, std::move(event));
}

Status WriteGraphSummary(KernelContext& ctx) {
  proto::Event event;
  TF_ASSIGN_OR_RETURN(const std::string* graph, TextOf(ctx, 2, "the graph"));
  event.set_graph_def(*graph);
  return WriteEvent(ctx, std::move(event));
}

Status ImportEvent(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto writer, ctx.LookupResource<Writer>(0));
  TF_ASSIGN_OR_RETURN(const std::string* event, TextOf(ctx, 1, "the event"));
  if (!proto::Event().ParseFromString(*event)) return DataLoss("the string is not a serialized Event message");
  return writer->Write(*event);
}

Status Flush(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto writer, ctx.LookupResource<Writer>(0));
  return writer->Flush();
}

Status CloseWriter(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto writer, ctx.LookupResource<Writer>(0));
  return writer->Close();
}

}  // namespace

void RegisterSummaryWriterKernels(KernelRegistry& r) {
  r.Add<SummaryWriterKernel>("SummaryWriter");
  r.Add<FileKernel<Open>>("CreateSummaryFileWriter");
  r.Add<FileKernel<WriteSummary>>("WriteSummary");
  r.Add<FileKernel<WriteRawProtoSummary>>("WriteRawProtoSummary");
  r.Add<FileKernel<WriteGraphSummary>>("WriteGraphSummary");
  r.Add<FileKernel<ImportEvent>>("ImportEvent");
  r.Add<FileKernel<Flush>>("FlushSummaryWriter");
  r.Add<FileKernel<CloseWriter>>("CloseSummaryWriter");
}

}  // namespace tensorbraid::cpu
