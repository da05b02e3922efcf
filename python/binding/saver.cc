#include "tensorbraid/train/saver.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "binding/interrupt.h"
#include "binding/python_calls.h"
#include "binding/session.h"
#include "train/checkpoints/flow_collections.h"
#include "train/checkpoints/increments.h"

namespace tensorbraid::python {
namespace {

using Seconds = std::chrono::duration<double>;

nb::tuple StateTuple(const CheckpointState& state) {
  std::vector<double> times;
  for (const auto time : state.all_model_checkpoint_timestamps) times.push_back(time.time_since_epoch().count());
  return nb::make_tuple(state.model_checkpoint_path, state.all_model_checkpoint_paths, times,
                        state.last_preserved_timestamp.time_since_epoch().count());
}

// A tuple of the variables, the names and the queue runners in collections, whether the graph has a saver, and the
// number of checkpoints that the saver keeps.
nb::tuple Import(Graph& graph, const nb::bytes& meta_graph) {
  const ScopeGuard at = AtUserLine(graph);
  const auto imported = ImportMetaGraph(graph, std::string_view(meta_graph.c_str(), meta_graph.size()));
  CheckBuilt(graph);
  Check(imported.status());
  nb::dict variables, collections;
  for (const auto& [key, list] : imported->variables) {
    nb::list wrapped;
    for (const Variable& variable : list) wrapped.append(Wrap(variable));
    variables[key.c_str()] = wrapped;
  }
  for (const auto& [key, names] : imported->collections) collections[key.c_str()] = names;
  nb::dict runners;
  for (const auto& [key, list] : imported->queue_runners) {
    nb::list wrapped;
    for (const QueueRunner& runner : list) wrapped.append(runner);
    runners[key.c_str()] = wrapped;
  }
  return nb::make_tuple(variables, collections, runners, imported->restore.valid(), imported->max_to_keep);
}

// Converts a pair from Python: the saved tensors, each with its name in the checkpoint and its slice, and a function
// that gets the list of restored tensors and returns the operation that restores the state.
SavedState StateOf(nb::handle pair) {
  SavedState state;
  for (const nb::handle value : pair[0]) {
    state.values.push_back({.value = nb::cast<PyTensor&>(value[0]).output,
                            .name = nb::cast<std::string>(value[1]),
                            .shape_and_slice = nb::cast<std::string>(value[2])});
  }
  state.restore = [restore = Shared(nb::borrow(pair[1]))](const std::vector<Output>& restored) {
    nb::list tensors;
    for (const Output& tensor : restored) tensors.append(Wrap(tensor));
    return OperationOf((*restore)(tensors));
  };
  return state;
}

void BindCheckpoints(Module& m) {
  m.def("checkpoint_exists", &CheckpointExists, nb::call_guard<nb::gil_scoped_release>());
  m.def("remove_checkpoint", [](const std::string& prefix) {
    const Unlocked unlocked;
    Check(RemoveCheckpoint(prefix));
  });
  // The full checkpoint and the increments of the chain of `path`.
  m.def("find_chain", [](const std::string& path) {
    const auto chain = [&] {
      const Unlocked unlocked;
      return FindChain(path);
    }();
    Check(chain.status());
    return nb::make_tuple(chain->full, chain->increments);
  });
  m.def("has_increments", [](const std::string& directory) {
    const Unlocked unlocked;
    return HasIncrements(directory);
  });
  m.def("get_checkpoint_state", [](const std::string& directory, const std::string& filename) {
    return StateTuple(Check(GetCheckpointState(directory, filename)));
  });
  m.def("update_checkpoint_state",
        [](const std::string& directory, const std::string& latest, std::vector<std::string> all,
           const std::vector<double>& times, double last_preserved, const std::string& filename) {
          CheckpointState state = {.model_checkpoint_path = latest, .all_model_checkpoint_paths = std::move(all)};
          for (const double time : times) {
            state.all_model_checkpoint_timestamps.push_back(CheckpointState::Timestamp(Seconds(time)));
          }
          state.last_preserved_timestamp = CheckpointState::Timestamp(Seconds(last_preserved));
          Check(UpdateCheckpointState(directory, state, filename));
        });
  Class<CheckpointReader>(m, "CheckpointReader")
      .def_static("open", [](const std::string& prefix) { return Check(CheckpointReader::Open(prefix)); })
      .def("tensors",
           [](const CheckpointReader& self) {
             nb::list tensors;
             for (const auto& info : self.tensors()) {
               nb::list shape;
               for (const int64_t dim : info.shape.dims()) shape.append(dim);
               tensors.append(nb::make_tuple(info.name, static_cast<int>(info.dtype), shape));
             }
             return tensors;
           })
      .def("has_tensor", [](const CheckpointReader& self, const std::string& name) { return self.HasTensor(name); })
      .def("get_tensor",
           [](CheckpointReader& self, const std::string& name) { return ArrayOf(Check(self.GetTensor(name))); });
}

}  // namespace

void BindSaver(Module& m) {
  Class<Saver>(m, "Saver")
      .def_static(
          "_make",
          [](Graph& graph, nb::list named, int max_to_keep, double keep_hours, std::optional<bool> sharded,
             bool pad_step_number, const std::string& name, bool reshape, nb::list states, bool incremental,
             bool follow_increments) {
            SaverOptions options = {.max_to_keep = max_to_keep,
                                    .sharded = sharded,
                                    .incremental = incremental,
                                    .follow_increments = follow_increments,
                                    .reshape = reshape,
                                    .pad_step_number = pad_step_number,
                                    .name = name};
            options.keep_checkpoint_every = std::chrono::milliseconds(static_cast<int64_t>(keep_hours * 3600 * 1000));
            for (const nb::handle item : named) {
              const Variable& variable = nb::cast<PyVariable&>(item[1]).variable;
              if (item[0].is_none()) {
                options.variables.emplace_back(variable);
              } else {
                options.variables.emplace_back(variable,
                                               Converted("the name of a saved variable must be a string", item[0],
                                                         [&] { return nb::cast<std::string>(item[0]); }));
              }
            }
            for (const nb::handle state : states) options.states.push_back(StateOf(state));
            const ScopeGuard at = AtUserLine(graph);
            auto saver = std::make_shared<Saver>(graph, std::move(options));
            CheckBuilt(graph);
            return saver;
          },
          nb::arg("graph"), nb::arg("named"), nb::arg("max_to_keep"), nb::arg("keep_hours"), nb::arg("sharded").none(),
          nb::arg("pad_step_number"), nb::arg("name"), nb::arg("reshape"), nb::arg("states"), nb::arg("incremental"),
          nb::arg("follow_increments"))
      .def(
          "save",
          [](Saver& self, const PySession& session, const std::string& path, std::optional<int64_t> step,
             const std::string& latest_filename, bool write_meta_graph) {
            Session& running = session.get();
            return Check(Interruptible([&running] { running.CancelRuns(); }).Run([&] {
              return self.Save(
                  running, path,
                  {.global_step = step, .latest_filename = latest_filename, .write_meta_graph = write_meta_graph});
            }));
          },
          nb::arg("session"), nb::arg("path"), nb::arg("step").none(), nb::arg("latest_filename"),
          nb::arg("write_meta_graph"))
      .def(
          "save_increment",
          [](Saver& self, const PySession& session, const std::string& path, std::optional<int64_t> step) {
            Session& running = session.get();
            return Check(Interruptible([&running] { running.CancelRuns(); }).Run([&] {
              return self.SaveIncrement(running, path, {.global_step = step});
            }));
          },
          nb::arg("session"), nb::arg("path"), nb::arg("step").none())
      .def(
          "restore",
          [](Saver& self, const PySession& session, const std::string& path) {
            Session& running = session.get();
            Check(Interruptible([&running] { running.CancelRuns(); }).Run([&] { return self.Restore(running, path); }));
          })
      .def_prop_ro("last_checkpoints", [](const Saver& self) { return self.last_checkpoints(); })
      .def("recover_last_checkpoints",
           [](Saver& self, const std::vector<std::string>& paths) { self.RecoverLastCheckpoints(paths); })
      // The collections are serialized CollectionDefs.
      .def("set_collections",
           [](Saver& self, nb::dict collections) {
             std::map<std::string, std::string> defs;
             for (const auto& [key, value] : collections) {
               const nb::bytes bytes = nb::cast<nb::bytes>(value);
               defs[nb::cast<std::string>(key)] = std::string(bytes.c_str(), bytes.size());
             }
             self.SetCollectionDefs(std::move(defs));
           })
      .def("meta_graph", [](const Saver& self) {
        const std::string bytes = Check(self.ToMetaGraphDef());
        return nb::bytes(bytes.data(), bytes.size());
      });
  m.def("import_meta_graph", &Import);
  // The contexts of branches and loops as serialized messages, by the key of their collection.
  m.def("flow_collections", [](const Graph& graph) {
    nb::dict collections;
    for (const auto& [key, contexts] : FlowCollections(graph)) {
      nb::list list;
      for (const std::string& bytes : contexts) list.append(nb::bytes(bytes.data(), bytes.size()));
      collections[key.c_str()] = list;
    }
    return collections;
  });
  BindCheckpoints(m);
}

}  // namespace tensorbraid::python
