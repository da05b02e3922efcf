// Strings: making, cutting, joining, matching and hashing them.
#include "core/strings.h"

#include <algorithm>

#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

// Scalars and tensors of one shape.
Status JoinShape(ShapeContext& c) {
  Shape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& in = c.input(i);
    if (in.is_scalar()) continue;
    if (!in.has_rank()) {
      c.set_output(0, Shape::Unknown());
      return OkStatus();
    }
    if (out.is_scalar()) {
      out = in;
      continue;
    }
    TF_ASSIGN_OR_RETURN(out, out.MergeWith(in));
  }
  c.set_output(0, out);
  return OkStatus();
}

Status SplitShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  TF_RETURN_IF_ERROR(c.WithRank(1, 0));
  c.set_output(0, Shape({-1, 2}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({2}));
  return OkStatus();
}

Status SubstrShape(ShapeContext& c) {
  const Shape& pos = c.input(1);
  const Shape& len = c.input(2);
  const bool differ = pos.is_fully_defined() && len.is_fully_defined() ? pos != len : !pos.IsCompatibleWith(len);
  if (differ) return InvalidArgument("pos and len must have one shape, got ", pos, " and ", len);
  TF_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(c.input(0), pos));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status FormatShape(ShapeContext& c) {
  const auto& text = c.attr<std::string>("template");
  const auto& placeholder = c.attr<std::string>("placeholder");
  int count = 0;
  for (size_t at = 0; !placeholder.empty() && (at = text.find(placeholder, at)) != std::string::npos; ++count) {
    at += placeholder.size();
  }
  if (count != c.num_inputs()) {
    return InvalidArgument("the template has ", count, " placeholders for ", c.num_inputs(), " inputs");
  }
  c.set_output(0, Shape());
  return OkStatus();
}

// Input 0 keeps its shape; all others are scalars.
Status ScalarArguments(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0));
  return UnchangedShape(c);
}

Status ReduceJoinShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  const Tensor axes = c.input_value(1);
  if (!in.has_rank() || !axes.is_valid()) return OkStatus();
  std::vector<bool> reduced(in.rank(), false);
  for (int64_t axis : axes.data<int32_t>()) {
    if (axis < -in.rank() || axis >= in.rank()) {
      return InvalidArgument("Invalid reduction dimension ", axis, " of an input with ", in.rank(), " dimension(s)");
    }
    reduced[axis < 0 ? axis + in.rank() : axis] = true;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!reduced[i]) out.AddDim(in.dim(i));
    if (reduced[i] && c.attr<bool>("keep_dims")) out.AddDim(1);
  }
  c.set_output(0, out);
  return OkStatus();
}

Status SegmentJoinShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(2, 0));
  const Shape& in = c.input(0);
  const Shape& ids = c.input(1);
  const Tensor count = c.input_value(2);
  int64_t segments = Shape::kUnknownDim;
  if (count.is_valid()) {
    segments = count.dtype() == kInt32 ? count.data<int32_t>()[0] : count.data<int64_t>()[0];
    if (segments < 0) return InvalidArgument("num_segments must not be negative, got ", segments);
  }
  if (!in.has_rank() || !ids.has_rank()) return OkStatus();
  Shape out({segments});
  if (ids.rank() > in.rank()) return InvalidArgument("segment_ids of shape ", ids, " do not fit inputs of shape ", in);
  for (int i = 0; i < in.rank(); ++i) {
    if (i >= ids.rank()) {
      out.AddDim(in.dim(i));
    } else if (ids.dim(i) >= 0 && in.dim(i) >= 0 && ids.dim(i) != in.dim(i)) {
      return InvalidArgument("segment_ids of shape ", ids, " do not fit inputs of shape ", in);
    }
  }
  c.set_output(0, out);
  return OkStatus();
}

Status UnicodeEncodeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  TF_ASSIGN_OR_RETURN(const Shape splits, c.WithRank(1, 1));
  if (splits.dim(0) == 0) return InvalidArgument("input_splits must not be empty");
  c.set_output(0, Shape({splits.dim(0) < 0 ? Shape::kUnknownDim : splits.dim(0) - 1}));
  return OkStatus();
}

Status UnicodeDecodeShape(ShapeContext& c) {
  const int64_t strings = c.input(0).has_rank() ? c.input(0).num_elements() : -1;
  c.set_output(0, Shape({strings < 0 ? Shape::kUnknownDim : strings + 1}));
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, Shape({-1}));
  return OkStatus();
}

Status NGramsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  TF_ASSIGN_OR_RETURN(Shape splits, c.WithRank(1, 1));
  c.set_output(0, Shape({-1}));
  c.set_output(1, std::move(splits));
  return OkStatus();
}

Status FingerprintShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape data, c.WithRankAtLeast(0, 1));
  TF_RETURN_IF_ERROR(c.WithRank(1, 0));
  const Tensor method = c.input_value(1);
  if (method.is_valid() && method.scalar<std::string>() != "farmhash64") {
    return InvalidArgument("unknown method '", method.scalar<std::string>(), "'; 'farmhash64' is known");
  }
  c.set_output(0, Shape({data.has_rank() ? data.dim(0) : Shape::kUnknownDim, 8}));
  return OkStatus();
}

void RegisterHashOps(OpRegistry& r) {
  r.Add(Op("StringToHashBucket")
            .Input("string_tensor: string")
            .Output("output: int64")
            .Attr("num_buckets: int >= 1")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("StringToHashBucketFast")
            .Input("input: string")
            .Output("output: int64")
            .Attr("num_buckets: int >= 1")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("StringToHashBucketStrong")
            .Input("input: string")
            .Output("output: int64")
            .Attr("num_buckets: int >= 1")
            .Attr("key: list(int)")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("Fingerprint")
            .Input("data: T")
            .Input("method: string")
            .Output("fingerprint: uint8")
            .Attr("T: type")
            .Shape(FingerprintShape)
            .NotDifferentiable());
}

void RegisterTextOps(OpRegistry& r) {
  r.Add(Op("StringStrip").Input("input: string").Output("output: string").Shape(UnchangedShape).NotDifferentiable());
  r.Add(Op("StringLength")
            .Input("input: string")
            .Output("output: int32")
            .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  for (const char* op : {"StringLower", "StringUpper"}) {
    r.Add(Op(op)
              .Input("input: string")
              .Output("output: string")
              .Attr("encoding: string = ''")
              .Shape(UnchangedShape)
              .NotDifferentiable());
  }
  r.Add(Op("Substr")
            .Input("input: string")
            .Input("pos: T")
            .Input("len: T")
            .Output("output: string")
            .Attr("T: {int32, int64}")
            .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
            .Shape(SubstrShape)
            .NotDifferentiable());
  r.Add(Op("EncodeBase64")
            .Input("input: string")
            .Output("output: string")
            .Attr("pad: bool = false")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeBase64").Input("input: string").Output("output: string").Shape(UnchangedShape).NotDifferentiable());
  r.Add(Op("AsString")
            .Input("input: T")
            .Output("output: string")
            .Attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, "
                  "complex64, complex128, bool, variant, string}")
            .Attr("precision: int = -1")
            .Attr("scientific: bool = false")
            .Attr("shortest: bool = false")
            .Attr("width: int = -1")
            .Attr("fill: string = ''")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("StringToNumber")
            .Input("string_tensor: string")
            .Output("output: out_type")
            .Attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("StringFormat")
            .Input("inputs: T")
            .Output("output: string")
            .Attr("T: list(type) >= 0")
            .Attr("template: string = '%s'")
            .Attr("placeholder: string = '%s'")
            .Attr("summarize: int = 3")
            .Shape(FormatShape)
            .NotDifferentiable());
}

void RegisterRegexOps(OpRegistry& r) {
  r.Add(Op("RegexReplace")
            .Input("input: string")
            .Input("pattern: string")
            .Input("rewrite: string")
            .Output("output: string")
            .Attr("replace_global: bool = true")
            .Shape(ScalarArguments)
            .NotDifferentiable());
  r.Add(Op("StaticRegexReplace")
            .Input("input: string")
            .Output("output: string")
            .Attr("pattern: string")
            .Attr("rewrite: string")
            .Attr("replace_global: bool = true")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("RegexFullMatch")
            .Input("input: string")
            .Input("pattern: string")
            .Output("output: bool")
            .Shape(ScalarArguments)
            .NotDifferentiable());
  r.Add(Op("StaticRegexFullMatch")
            .Input("input: string")
            .Output("output: bool")
            .Attr("pattern: string")
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

void RegisterJoinAndSplitOps(OpRegistry& r) {
  r.Add(Op("StringJoin")
            .Input("inputs: N * string")
            .Output("output: string")
            .Attr("N: int >= 0")
            .Attr("separator: string = ''")
            .Shape(JoinShape)
            .NotDifferentiable());
  r.Add(Op("ReduceJoin")
            .Input("inputs: string")
            .Input("reduction_indices: int32")
            .Output("output: string")
            .Attr("keep_dims: bool = false")
            .Attr("separator: string = ''")
            .Shape(ReduceJoinShape)
            .NotDifferentiable());
  r.Add(Op("UnsortedSegmentJoin")
            .Input("inputs: string")
            .Input("segment_ids: Tindices")
            .Input("num_segments: Tnumsegments")
            .Output("output: string")
            .Attr("separator: string = ''")
            .Attr("Tindices: {int32, int64}")
            .Attr("Tnumsegments: {int32, int64} = DT_INT32")
            .Shape(SegmentJoinShape)
            .NotDifferentiable());
  r.Add(Op("StringSplit")
            .Input("input: string")
            .Input("delimiter: string")
            .Output("indices: int64")
            .Output("values: string")
            .Output("shape: int64")
            .Attr("skip_empty: bool = true")
            .Shape(SplitShape)
            .NotDifferentiable());
  r.Add(Op("StringSplitV2")
            .Input("input: string")
            .Input("sep: string")
            .Output("indices: int64")
            .Output("values: string")
            .Output("shape: int64")
            .Attr("maxsplit: int = -1")
            .Shape(SplitShape)
            .NotDifferentiable());
  r.Add(Op("StringNGrams")
            .Input("data: string")
            .Input("data_splits: Tsplits")
            .Output("ngrams: string")
            .Output("ngrams_splits: Tsplits")
            .Attr("separator: string")
            .Attr("ngram_widths: list(int) >= 0")
            .Attr("left_pad: string")
            .Attr("right_pad: string")
            .Attr("pad_width: int")
            .Attr("preserve_short_sequences: bool")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(NGramsShape)
            .NotDifferentiable());
}

void RegisterUnicodeOps(OpRegistry& r) {
  r.Add(Op("UnicodeScript").Input("input: int32").Output("output: int32").Shape(UnchangedShape).NotDifferentiable());
  r.Add(Op("UnicodeEncode")
            .Input("input_values: int32")
            .Input("input_splits: Tsplits")
            .Output("output: string")
            .Attr("errors: {'ignore', 'replace', 'strict'} = 'replace'")
            .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
            .Attr("replacement_char: int = 65533")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(UnicodeEncodeShape)
            .NotDifferentiable());
  r.Add(Op("UnicodeDecode")
            .Input("input: string")
            .Output("row_splits: Tsplits")
            .Output("char_values: int32")
            .Attr("input_encoding: string")
            .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
            .Attr("replacement_char: int = 65533")
            .Attr("replace_control_characters: bool = false")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(UnicodeDecodeShape)
            .NotDifferentiable());
  r.Add(Op("UnicodeDecodeWithOffsets")
            .Input("input: string")
            .Output("row_splits: Tsplits")
            .Output("char_values: int32")
            .Output("char_to_byte_starts: int64")
            .Attr("input_encoding: string")
            .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
            .Attr("replacement_char: int = 65533")
            .Attr("replace_control_characters: bool = false")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(UnicodeDecodeShape)
            .NotDifferentiable());
  r.Add(Op("UnicodeTranscode")
            .Input("input: string")
            .Output("output: string")
            .Attr("input_encoding: string")
            .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
            .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
            .Attr("replacement_char: int = 65533")
            .Attr("replace_control_characters: bool = false")
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace

void RegisterStringOps(OpRegistry& r) {
  RegisterTextOps(r);
  RegisterHashOps(r);
  RegisterRegexOps(r);
  RegisterJoinAndSplitOps(r);
  RegisterUnicodeOps(r);
}

}  // namespace tensorbraid
