// Ops that read records from files: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// A handle that is a reference consists of two strings; a resource handle is a scalar.
Status ReaderHandleShape(ShapeContext& c) {
  c.set_output(0, IsRef(c.node().output_type(0)) ? Shape({2}) : Shape());
  return OkStatus();
}

Status ReadUpToShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(2, 0));
  for (int i = 0; i < 2; ++i) c.set_output(i, Shape({-1}));
  return OkStatus();
}

// `version` is "" for readers with reference handles and "V2" for readers with resource handles.
void AddReaders(OpRegistry& r, const std::string& version) {
  const std::string type = version.empty() ? "Ref(string)" : "resource";
  const std::string handle = "reader_handle: " + type;
  const std::string queue = "queue_handle: " + type;
  const auto reader = [&](const char* name) {
    Op op(name + version);
    op.Output(handle.c_str()).Attr("container: string = ''").Attr("shared_name: string = ''");
    return op.Stateful().Shape(ReaderHandleShape).NotDifferentiable();
  };
  r.Add(reader("WholeFileReader"));
  r.Add(reader("IdentityReader"));
  r.Add(reader("TextLineReader").Attr("skip_header_lines: int = 0"));
  r.Add(reader("TFRecordReader").Attr("compression_type: string = ''"));
  Op fixed = reader("FixedLengthRecordReader");
  fixed.Attr("header_bytes: int = 0")
      .Attr("record_bytes: int")
      .Attr("footer_bytes: int = 0")
      .Attr("hop_bytes: int = 0");
  if (!version.empty()) fixed.Attr("encoding: string = ''");
  r.Add(fixed);

  const auto use = [&](const char* name) {
    Op op(name + version);
    op.Input(handle.c_str()).Stateful().NotDifferentiable();
    return op;
  };
  r.Add(use("ReaderRead").Input(queue.c_str()).Output("key: string").Output("value: string").Shape(ScalarShape));
  r.Add(use("ReaderReadUpTo")
            .Input(queue.c_str())
            .Input("num_records: int64")
            .Output("keys: string")
            .Output("values: string")
            .Shape(ReadUpToShape));
  r.Add(use("ReaderNumRecordsProduced").Output("records_produced: int64").Shape(ScalarShape));
  r.Add(use("ReaderNumWorkUnitsCompleted").Output("units_completed: int64").Shape(ScalarShape));
  r.Add(use("ReaderReset").Shape(NoOutputs));
  r.Add(use("ReaderSerializeState").Output("state: string").Shape(ScalarShape));
  r.Add(use("ReaderRestoreState").Input("state: string").Shape(NoOutputs));
}

}  // namespace

void RegisterIoReadersOps(OpRegistry& r) {
  r.Add(Op("RecordInput")
            .Output("records: string")
            .Attr("file_pattern: string")
            .Attr("file_random_seed: int = 301")
            .Attr("file_shuffle_shift_ratio: float = 0")
            .Attr("file_buffer_size: int = 10000")
            .Attr("file_parallelism: int = 16")
            .Attr("batch_size: int = 32")
            .Attr("compression_type: string = ''")
            .Stateful()
            .Shape(UnknownShape)
            .NotDifferentiable());
  AddReaders(r, "");
  AddReaders(r, "V2");
}

}  // namespace tensorbraid
