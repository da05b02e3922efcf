// Datasets and iterators.
#include <nanobind/stl/string.h>

#include <optional>

#include "binding/functions.h"
#include "binding/host_functions.h"
#include "tensorbraid/data/dataset.h"

namespace tensorbraid::python {
namespace {

using data::Dataset;
using data::Iterator;

struct PyDataset {
  Dataset dataset;
  nb::object graph;
};
struct PyIterator {
  Iterator iterator;
  nb::object graph;
};

PyDataset Made(Graph& graph, Dataset dataset) {
  CheckBuilt(graph);
  if (!dataset.valid()) throw nb::value_error("the dataset depends on a dataset or function that is not valid");
  nb::object owner = GraphObject(*dataset.graph());
  return {std::move(dataset), std::move(owner)};
}

PyIterator Made(Graph& graph, Iterator iterator) {
  CheckBuilt(graph);
  nb::object owner = GraphObject(*iterator.resource().graph());
  return {std::move(iterator), std::move(owner)};
}

Graph& OwnerOf(const PyDataset& self) { return *self.dataset.graph(); }

// Calls `make(graph)`, with new nodes at the line of the user's program.
template <typename F>
auto At(Graph& graph, const F& make) {
  const ScopeGuard at = AtUserLine(graph);
  return Made(graph, make());
}

Output Number(Graph& graph, nb::handle value, const char* name) { return OutputFor(graph, value, kInt64, name); }
Output Text(Graph& graph, nb::handle value, const char* name) { return OutputFor(graph, value, kString, name); }
Output Flag(Graph& graph, nb::handle value, const char* name) { return OutputFor(graph, value, kBool, name); }

std::vector<Operand> OperandsOf(nb::handle tensors) {
  std::vector<Operand> operands;
  for (const Output& output : OutputsOf(tensors)) operands.emplace_back(output);
  return operands;
}

void BindSources(Class<PyDataset>& dataset) {
  dataset
      .def_static("from_tensors",
                  [](Graph& g, nb::handle tensors) {
                    return At(g, [&] { return Dataset::FromTensors(g, OperandsOf(tensors)); });
                  })
      .def_static("from_tensor_slices",
                  [](Graph& g, nb::handle tensors) {
                    return At(g, [&] { return Dataset::FromTensorSlices(g, OperandsOf(tensors)); });
                  })
      .def_static("from_callback",
                  [](Graph& g, nb::handle begin, nb::handle args, nb::handle element) {
                    return At(g, [&] { return DatasetOfGenerator(g, begin, args, SpecsOf(element)); });
                  })
      .def_static("range",
                  [](Graph& g, nb::handle start, nb::handle stop, nb::handle step) {
                    return At(g, [&] {
                      return Dataset::Range(g, Number(g, start, "start"), Number(g, stop, "stop"),
                                            Number(g, step, "step"));
                    });
                  })
      .def_static("text_lines",
                  [](Graph& g, nb::handle files, const std::string& compression, int64_t buffer_size) {
                    return At(g, [&] {
                      return Dataset::TextLines(g, Text(g, files, "filenames"),
                                                {.compression = compression, .buffer_size = buffer_size});
                    });
                  })
      .def_static("tf_records",
                  [](Graph& g, nb::handle files, const std::string& compression, int64_t buffer_size) {
                    return At(g, [&] {
                      return Dataset::TfRecords(g, Text(g, files, "filenames"),
                                                {.compression = compression, .buffer_size = buffer_size});
                    });
                  })
      .def_static("fixed_length_records",
                  [](Graph& g, nb::handle files, nb::handle record_bytes, int64_t header_bytes, int64_t footer_bytes,
                     const std::string& compression, int64_t buffer_size) {
                    return At(g, [&] {
                      return Dataset::FixedLengthRecords(g, Text(g, files, "filenames"),
                                                         Number(g, record_bytes, "record_bytes"),
                                                         {.header_bytes = header_bytes,
                                                          .footer_bytes = footer_bytes,
                                                          .compression = compression,
                                                          .buffer_size = buffer_size});
                    });
                  })
      .def_static("list_files", [](Graph& g, nb::handle patterns) {
        return At(g, [&] { return Dataset::ListFiles(g, Text(g, patterns, "file_pattern"), {.shuffle = false}); });
      });
}

void BindFunctionsOfElements(Class<PyDataset>& dataset) {
  dataset
      .def("map", [](PyDataset& self,
                     const PyFunction& f) { return At(OwnerOf(self), [&] { return self.dataset.Map(f.function); }); })
      .def("parallel_map",
           [](PyDataset& self, const PyFunction& f, nb::handle calls, bool deterministic) {
             Graph& g = OwnerOf(self);
             return At(g, [&] {
               return self.dataset.ParallelMap(f.function, Number(g, calls, "num_parallel_calls"),
                                               {.deterministic = deterministic});
             });
           })
      .def("filter",
           [](PyDataset& self, const PyFunction& f) {
             return At(OwnerOf(self), [&] { return self.dataset.Filter(f.function); });
           })
      .def("flat_map",
           [](PyDataset& self, const PyFunction& f, nb::handle element) {
             return At(OwnerOf(self), [&] { return self.dataset.FlatMap(f.function, SpecsOf(element)); });
           })
      .def(
          "interleave",
          [](PyDataset& self, const PyFunction& f, nb::handle element, nb::handle cycle_length, nb::handle block_length,
             nb::handle calls, bool deterministic) {
            Graph& g = OwnerOf(self);
            return At(g, [&] {
              data::InterleaveOptions options{.cycle_length = Number(g, cycle_length, "cycle_length"),
                                              .block_length = Number(g, block_length, "block_length"),
                                              .num_parallel_calls = std::nullopt,
                                              .deterministic = deterministic};
              if (!calls.is_none()) options.num_parallel_calls = Number(g, calls, "num_parallel_calls");
              return self.dataset.Interleave(f.function, SpecsOf(element), options);
            });
          },
          nb::arg("function"), nb::arg("element"), nb::arg("cycle_length"), nb::arg("block_length"),
          nb::arg("num_parallel_calls").none(), nb::arg("deterministic"));
}

void BindOrder(Class<PyDataset>& dataset) {
  dataset
      .def("shuffle",
           [](PyDataset& self, nb::handle buffer_size, nb::handle seed, nb::handle seed2, bool reshuffle) {
             Graph& g = OwnerOf(self);
             return At(g, [&] {
               return self.dataset.ShuffleWithSeeds(Number(g, buffer_size, "buffer_size"), Number(g, seed, "seed"),
                                                    Number(g, seed2, "seed2"), reshuffle);
             });
           })
      .def("repeat",
           [](PyDataset& self, nb::handle count) {
             Graph& g = OwnerOf(self);
             return At(g, [&] { return self.dataset.Repeat(Number(g, count, "count")); });
           })
      .def("take",
           [](PyDataset& self, nb::handle count) {
             Graph& g = OwnerOf(self);
             return At(g, [&] { return self.dataset.Take(Number(g, count, "count")); });
           })
      .def("skip",
           [](PyDataset& self, nb::handle count) {
             Graph& g = OwnerOf(self);
             return At(g, [&] { return self.dataset.Skip(Number(g, count, "count")); });
           })
      .def("shard",
           [](PyDataset& self, nb::handle num_shards, nb::handle index) {
             Graph& g = OwnerOf(self);
             return At(
                 g, [&] { return self.dataset.Shard(Number(g, num_shards, "num_shards"), Number(g, index, "index")); });
           })
      .def("concatenate",
           [](PyDataset& self, PyDataset& other) {
             return At(OwnerOf(self), [&] { return self.dataset.Concatenate(other.dataset); });
           })
      .def_static("zip",
                  [](nb::list datasets) {
                    std::vector<Dataset> list;
                    for (const nb::handle item : datasets) list.push_back(nb::cast<PyDataset&>(item).dataset);
                    return At(*list.at(0).graph(), [&] { return Dataset::Zip(list); });
                  })
      .def("prefetch",
           [](PyDataset& self, nb::handle buffer_size) {
             Graph& g = OwnerOf(self);
             return At(g, [&] { return self.dataset.Prefetch(Number(g, buffer_size, "buffer_size")); });
           })
      .def("copy_to_device",
           [](PyDataset& self, const std::string& device) {
             return At(OwnerOf(self), [&] { return self.dataset.CopyToDevice(device); });
           })
      .def_prop_ro("device", [](const PyDataset& self) { return self.dataset.device(); })
      .def("cache", [](PyDataset& self, nb::handle file) {
        Graph& g = OwnerOf(self);
        return At(g, [&] { return self.dataset.Cache(Text(g, file, "filename")); });
      });
}

void BindBatches(Class<PyDataset>& dataset) {
  dataset
      .def("batch",
           [](PyDataset& self, nb::handle batch_size, nb::handle drop_remainder) {
             Graph& g = OwnerOf(self);
             return At(g, [&] {
               return self.dataset.Batch(Number(g, batch_size, "batch_size"),
                                         Flag(g, drop_remainder, "drop_remainder"));
             });
           })
      .def("padded_batch",
           [](PyDataset& self, nb::handle batch_size, nb::handle shapes, nb::handle values, bool drop_remainder) {
             Graph& g = OwnerOf(self);
             return At(g, [&] {
               std::vector<Shape> padded;
               for (const nb::handle shape : shapes) padded.push_back(ShapeOf(shape));
               return self.dataset.PaddedBatch(
                   Number(g, batch_size, "batch_size"), padded,
                   {.drop_remainder = drop_remainder, .padding_values = OperandsOf(values)});
             });
           })
      .def("unbatch", [](PyDataset& self) { return At(OwnerOf(self), [&] { return self.dataset.Unbatch(); }); });
}

void BindIterator(Module& m) {
  Class<PyIterator>(m, "DatasetIterator", nb::type_slots(Collected<PyIterator>()))
      .def_static(
          "one_shot",
          [](PyDataset& dataset) { return At(OwnerOf(dataset), [&] { return Iterator::OneShot(dataset.dataset); }); })
      .def_static("initializable",
                  [](PyDataset& dataset, const std::string& shared_name) {
                    return At(OwnerOf(dataset), [&] { return Iterator::Initializable(dataset.dataset, shared_name); });
                  })
      .def_static("from_structure",
                  [](Graph& graph, nb::handle element, const std::string& shared_name) {
                    return At(graph, [&] { return Iterator::FromStructure(graph, SpecsOf(element), shared_name); });
                  })
      .def_static("from_string_handle",
                  [](PyTensor& handle, nb::handle element) {
                    Graph& graph = *handle.output.graph();
                    return At(graph, [&] { return Iterator::FromStringHandle(handle.output, SpecsOf(element)); });
                  })
      .def_prop_ro("element", [](const PyIterator& self) { return PairsOf(self.iterator.element()); })
      .def_prop_ro("resource", [](const PyIterator& self) { return Wrap(self.iterator.resource()); })
      .def_prop_ro("initializer", [](const PyIterator& self) { return Wrap(self.iterator.initializer()); })
      .def("make_initializer",
           [](PyIterator& self, PyDataset& dataset, const std::string& name) {
             Graph& graph = nb::cast<Graph&>(self.graph);
             const ScopeGuard at = AtUserLine(graph);
             const Operation made = self.iterator.MakeInitializer(dataset.dataset, name);
             CheckBuilt(graph);
             return Wrap(made);
           })
      .def("get_next",
           [](PyIterator& self, const std::string& name) {
             Graph& graph = nb::cast<Graph&>(self.graph);
             const ScopeGuard at = AtUserLine(graph);
             const data::Tensors next = self.iterator.GetNext(name);
             CheckBuilt(graph);
             return ListOfTensors(next);
           })
      .def("string_handle", [](PyIterator& self, const std::string& name) {
        Graph& graph = nb::cast<Graph&>(self.graph);
        const ScopeGuard at = AtUserLine(graph);
        const Output handle = self.iterator.StringHandle(name);
        CheckBuilt(graph);
        return Wrap(handle);
      });
}

}  // namespace

void BindDatasets(Module& m) {
  Class<PyDataset> dataset(m, "Dataset", nb::type_slots(Collected<PyDataset>()));
  dataset.def("__init__", [](PyDataset* self, PyTensor& variant, nb::handle element) {
    new (self) PyDataset{Dataset(variant.output, SpecsOf(element)), variant.graph()};
  });
  dataset.def_prop_ro("graph", [](const PyDataset& self) { return self.graph; })
      .def_prop_ro("variant", [](const PyDataset& self) { return Wrap(self.dataset.variant()); })
      .def_prop_ro("element", [](const PyDataset& self) { return PairsOf(self.dataset.element()); });
  BindSources(dataset);
  BindFunctionsOfElements(dataset);
  BindOrder(dataset);
  BindBatches(dataset);
  BindIterator(m);
}

}  // namespace tensorbraid::python
