// Decodes strings that hold numbers, CSV records, compressed bytes or JSON.
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstring>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "core/values/bools.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "io/example.pb.h"
#include "io/inflate.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/parsing/csv.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

constexpr int64_t kRecordsAhead = 2;  // records that are being loaded while one is decoded

class DecodeCsvKernel final : public Kernel {
 public:
  explicit DecodeCsvKernel(const KernelConstruction& c)
      : format_({.delimiter = c.attr<std::string>("field_delim"),
                 .quotes = c.attr<bool>("use_quote_delim"),
                 .missing = c.attr<std::string>("na_value"),
                 .columns = c.attr<std::vector<int64_t>>("select_cols")}) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(format_.Check(ctx.num_outputs()));
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).shape().rank() > 1 || ctx.input(i).num_elements() > 1) {
        return InvalidArgument("record_defaults[", i - 1, "] must have at most one element, got shape ",
                               ctx.input(i).shape());
      }
    }
    const Tensor& records = ctx.input(0);
    std::vector<Tensor*> outputs;
    std::vector<CsvOutput> columns;
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, records.shape()));
      outputs.push_back(out);
      columns.emplace_back(ctx.input(i + 1), out);
    }
    std::vector<std::string> fields;
    for (int64_t n = 0; n < records.num_elements(); ++n) {
      const std::string& record = records.data<std::string>()[n];
      if (n + kRecordsAhead < records.num_elements()) {
        const std::string& later = records.data<std::string>()[n + kRecordsAhead];
        PrefetchRow<false>(later.data(), static_cast<int64_t>(later.size()));
      }
      if (format_.columns.empty() && format_.StorePlain(record, columns, n)) continue;
      if (const Status decoded = Decode(ctx, record, n, &fields, outputs); !decoded.ok()) {
        return Status(decoded.code(), StrCat(decoded.message(), "; the record is \"", record.substr(0, 100), "\""));
      }
    }
    return OkStatus();
  }

 private:
  // Stores the fields of record n. `fields` is memory that is used again.
  Status Decode(const KernelContext& ctx, const std::string& record, int64_t n, std::vector<std::string>* fields,
                const std::vector<Tensor*>& outputs) const {
    const std::string name = StrCat("record ", n);
    TF_RETURN_IF_ERROR(Annotate(format_.Split(record, fields), name));
    if (fields->size() != outputs.size()) {
      return InvalidArgument("Expect ", outputs.size(), " fields but have ", fields->size(), " in ", name);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int number = static_cast<int>(i);
      TF_RETURN_IF_ERROR(format_.Store((*fields)[i], ctx.input(number + 1), number, name, n, outputs[i]));
    }
    return OkStatus();
  }

  const CsvFormat format_;
};

// The size in bytes of the unit whose byte order is swapped: for complex types, one of the two parts.
size_t NumberBytes(DType t) { return IsComplex(t) ? DTypeSize(t) / 2 : DTypeSize(t); }

void SwapBytes(char* data, size_t size, size_t number) {
  for (size_t i = 0; i + number <= size; i += number) std::reverse(data + i, data + i + number);
}

// The shape of the input with one more dimension of `width` elements.
Shape WithWidth(const Shape& in, int64_t width) {
  Shape shape = in;
  shape.AddDim(width);
  return shape;
}

Status DecodeRaw(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const DType dtype = ctx.node().output_type(0);
  const auto strings = in.data<std::string>();
  const size_t size = strings.empty() ? 0 : strings[0].size();
  for (size_t i = 0; i < strings.size(); ++i) {
    if (strings[i].size() != size) {
      return InvalidArgument("DecodeRaw requires input strings to all be the same size, but element ", i, " has size ",
                             size, " != ", strings[i].size());
    }
  }
  if (size % DTypeSize(dtype) != 0) {
    return InvalidArgument("Input to DecodeRaw has length ", size, " that is not a multiple of ", DTypeSize(dtype),
                           ", the size of ", OpTypeName(dtype));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out,
                      ctx.AllocateOutput(0, WithWidth(in.shape(), static_cast<int64_t>(size / DTypeSize(dtype)))));
  auto* to = static_cast<char*>(out->inplace_raw_data());
  for (const std::string& s : strings) {
    if (size > 0) std::memcpy(to, s.data(), size);
    to += size;
  }
  const bool little = ctx.node().attr<bool>("little_endian");
  if (!little) SwapBytes(static_cast<char*>(out->inplace_raw_data()), out->num_bytes(), NumberBytes(dtype));
  NormalizeBools(out);
  return OkStatus();
}

Status DecodePaddedRaw(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const DType dtype = ctx.node().output_type(0);
  if (ctx.input(1).shape().rank() != 0) {
    return InvalidArgument("fixed_length must be a scalar, got shape ", ctx.input(1).shape());
  }
  const int64_t length = ctx.input(1).data<int32_t>()[0];
  const auto number = static_cast<int64_t>(DTypeSize(dtype));
  if (length <= 0 || length % number != 0) {
    return InvalidArgument("fixed_length must be a positive multiple of ", number, " for ", dtype, ", got ", length);
  }
  // An empty input needs no memory, however large fixed_length is.
  const int64_t width = in.num_elements() == 0 ? 0 : length / number;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, WithWidth(in.shape(), width)));
  auto* to = static_cast<char*>(out->inplace_raw_data());
  if (out->num_bytes() > 0) std::memset(to, 0, out->num_bytes());
  for (const std::string& s : in.data<std::string>()) {
    std::memcpy(to, s.data(), std::min(s.size(), static_cast<size_t>(length)));
    to += length;
  }
  const bool little = ctx.node().attr<bool>("little_endian");
  if (!little) SwapBytes(static_cast<char*>(out->inplace_raw_data()), out->num_bytes(), NumberBytes(dtype));
  return OkStatus();
}

Status DecodeCompressed(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Compression compression,
                      CompressionFromName(ctx.node().attr<std::string>("compression_type")));
  return MapStrings<std::string>(
      ctx, [compression](const std::string& s) { return Inflate(s, compression, kMaxStringBytes); });
}

Status DecodeJsonExample(KernelContext& ctx) {
  return MapStrings<std::string>(ctx, [](const std::string& s) -> StatusOr<std::string> {
    proto::Example example;
    const auto status = google::protobuf::util::JsonStringToMessage(s, &example);
    if (!status.ok()) {
      return InvalidArgument("Error while parsing JSON: ",
                             std::string(status.message().data(), status.message().size()));
    }
    return example.SerializeAsString();
  });
}

}  // namespace

void RegisterParsingDecodeKernels(KernelRegistry& r) {
  r.Add<DecodeCsvKernel>("DecodeCSV");
  r.Add("DecodeRaw", {}, DecodeRaw);
  r.Add("DecodePaddedRaw", {}, DecodePaddedRaw);
  r.Add("DecodeCompressed", {}, DecodeCompressed, cpu::FileCost);
  r.Add("DecodeJSONExample", {}, DecodeJsonExample);
}

}  // namespace tensorbraid::cpu
