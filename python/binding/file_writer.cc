#include "tensorbraid/train/file_writer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "binding/binding.h"
#include "binding/python_calls.h"
#include "core/system/fork_count.h"

namespace tensorbraid::python {
namespace {

using summary::FileWriter;
using Step = std::optional<int64_t>;

std::string_view TextOf(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// Deletes a writer, whose thread writes what is left, but not in a child of the process that has made it.
struct DeleteInItsProcess {
  int process = ForkCount();
  void operator()(FileWriter* writer) const {
    if (ForkCount() == process) delete writer;
  }
};

}  // namespace

void BindFileWriter(Module& m) {
  Enum<summary::SessionStatus>(m, "SessionStatus")
      .value("START", summary::SessionStatus::kStart)
      .value("STOP", summary::SessionStatus::kStop)
      .value("CHECKPOINT", summary::SessionStatus::kCheckpoint);
  Class<FileWriter>(m, "FileWriter")
      .def_static(
          "open",
          [](std::string logdir, int max_queue, double flush_secs, std::string suffix) {
            const Unlocked unlocked;
            auto writer = Check(FileWriter::Open(
                std::move(logdir), {.max_queue = max_queue,
                                    .flush_every = std::chrono::milliseconds(static_cast<int64_t>(flush_secs * 1000)),
                                    .filename_suffix = std::move(suffix)}));
            return std::shared_ptr<FileWriter>(writer.release(), DeleteInItsProcess());
          },
          nb::arg("logdir"), nb::arg("max_queue"), nb::arg("flush_secs"), nb::arg("filename_suffix"))
      .def(
          "add_summary",
          [](FileWriter& self, const nb::bytes& summary, Step step) {
            const std::string text(TextOf(summary));
            const Unlocked unlocked;
            Check(self.AddSummary(std::string_view(text), step));
          },
          nb::arg("summary"), nb::arg("step").none())
      .def("add_graph", [](FileWriter& self, const Graph& graph) { Check(self.AddGraph(graph)); })
      .def("add_meta_graph", [](FileWriter& self, const nb::bytes& meta) { Check(self.AddMetaGraph(TextOf(meta))); })
      .def(
          "add_run_metadata",
          [](FileWriter& self, const nb::bytes& metadata, const std::string& tag, Step step) {
            Check(self.AddRunMetadata(RunMetadata(std::string(TextOf(metadata))), tag, step));
          },
          nb::arg("metadata"), nb::arg("tag"), nb::arg("step").none())
      .def(
          "add_session_log",
          [](FileWriter& self, summary::SessionStatus status, const std::string& checkpoint_path, Step step) {
            Check(self.AddSessionLog(status, step, checkpoint_path));
          },
          nb::arg("status"), nb::arg("checkpoint_path"), nb::arg("step").none())
      .def("add_event", [](FileWriter& self, const nb::bytes& event) { Check(self.AddEvent(TextOf(event))); })
      .def("flush",
           [](FileWriter& self) {
             const Unlocked unlocked;
             Check(self.Flush());
           })
      .def("close",
           [](FileWriter& self) {
             const Unlocked unlocked;
             Check(self.Close());
           })
      .def("reopen", [](FileWriter& self) { Check(self.Reopen()); })
      .def_prop_ro("logdir", [](const FileWriter& self) { return self.logdir(); })
      .def_prop_ro("path", [](const FileWriter& self) { return self.path(); });
  m.def("chrome_trace", [](const nb::bytes& metadata, bool show_dataflow, bool show_memory) {
    return Check(RunMetadata(std::string(TextOf(metadata)))
                     .ToChromeTrace({.show_dataflow = show_dataflow, .show_memory = show_memory}));
  });
}

}  // namespace tensorbraid::python
