// Lookup tables: schemas and shape rules. Their handles are resources ("V2") or, in the older form, references to
// strings.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status TableShape(ShapeContext& c) {
  if (c.node().type().ends_with("V2")) c.set_output(0, Shape());
  return OkStatus();
}

// Tables with scalar values return one value per key.
Status FindShape(ShapeContext& c) {
  const std::string& table = NodeOf(c.node().inputs()[0])->type();
  if (table.starts_with("HashTable") || table == "MutableHashTable" || table == "MutableHashTableV2") {
    c.set_output(0, c.input(1));
  }
  return OkStatus();
}

Status InitializeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  return OkStatus();
}

// `version` is "" for tables with reference handles and "V2" for tables with resource handles.
void AddTables(OpRegistry& r, const std::string& version) {
  const std::string handle = version.empty() ? "table_handle: Ref(string)" : "table_handle: resource";
  for (const char* kind : {"HashTable", "MutableHashTable", "MutableHashTableOfTensors"}) {
    Op op(kind + version);
    op.Output(handle.c_str())
        .Attr("container: string = ''")
        .Attr("shared_name: string = ''")
        .Attr("use_node_name_sharing: bool = false")
        .Attr("key_dtype: type")
        .Attr("value_dtype: type");
    if (kind == std::string_view("MutableHashTableOfTensors")) op.Attr("value_shape: shape = []");
    r.Add(op.Stateful().Shape(TableShape).NotDifferentiable());
  }
  r.Add(Op("LookupTableFind" + version)
            .Input(handle.c_str())
            .Input("keys: Tin")
            .Input("default_value: Tout")
            .Output("values: Tout")
            .Attr("Tin: type")
            .Attr("Tout: type")
            .Stateful()
            .Shape(FindShape)
            .NotDifferentiable());
  for (const char* op : {"LookupTableInsert", "LookupTableImport"}) {
    r.Add(Op(op + version)
              .Input(handle.c_str())
              .Input("keys: Tin")
              .Input("values: Tout")
              .Attr("Tin: type")
              .Attr("Tout: type")
              .Stateful()
              .Shape(NoOutputs)
              .NotDifferentiable());
  }
  r.Add(Op("LookupTableSize" + version)
            .Input(handle.c_str())
            .Output("size: int64")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("LookupTableExport" + version)
            .Input(handle.c_str())
            .Output("keys: Tkeys")
            .Output("values: Tvalues")
            .Attr("Tkeys: type")
            .Attr("Tvalues: type")
            .Stateful()
            .Shape(UnknownShape)
            .NotDifferentiable());
  r.Add(Op("InitializeTable" + version)
            .Input(handle.c_str())
            .Input("keys: Tkey")
            .Input("values: Tval")
            .Attr("Tkey: type")
            .Attr("Tval: type")
            .Stateful()
            .Shape(InitializeShape)
            .NotDifferentiable());
  r.Add(Op("InitializeTableFromTextFile" + version)
            .Input(handle.c_str())
            .Input("filename: string")
            .Attr("key_index: int >= -2")
            .Attr("value_index: int >= -2")
            .Attr("vocab_size: int >= -1 = -1")
            .Attr("delimiter: string = '\t'")
            .Attr("offset: int = 0")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
}

}  // namespace

void RegisterDataFlowLookupOps(OpRegistry& r) {
  AddTables(r, "");
  AddTables(r, "V2");
  r.Add(Op("MutableDenseHashTableV2")
            .Input("empty_key: key_dtype")
            .Input("deleted_key: key_dtype")
            .Output("table_handle: resource")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Attr("use_node_name_sharing: bool = false")
            .Attr("key_dtype: type")
            .Attr("value_dtype: type")
            .Attr("value_shape: shape = []")
            .Attr("initial_num_buckets: int = 131072")
            .Attr("max_load_factor: float = 0.8")
            .Stateful()
            .Shape(TableShape)
            .NotDifferentiable());
  r.Add(Op("LookupTableRemoveV2")
            .Input("table_handle: resource")
            .Input("keys: Tin")
            .Attr("Tin: type")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
}

}  // namespace tensorbraid
