// Writes the logs that tensorboard_log.py reads: tensorboard_log DIR.
//
//   DIR/monitored    the events of a MonitoredTrainingSession with all kinds of summaries
//   DIR/supervised   the events of a Supervisor
//   DIR/traced       a graph, and the trace of a step on two devices
//   DIR/trace.json   the same trace in Chrome's format
#include <tensorbraid/tensorbraid.h>

#include <cstdio>

namespace tf = tensorbraid;

namespace {

constexpr int kTrainSteps = 5;

struct Model {
  Model() {
    w = tf::Variable(g, {3}, tf::Ones(), {.name = "w"});
    loss = tf::ReduceSum(tf::Square(w));
    global_step = tf::GetOrCreateGlobalStep(g);
    train = tf::GradientDescentOptimizer(0.25).Minimize(loss, {.global_step = global_step});
    loss_summary = tf::summary::Scalar("loss", loss);
    tf::summary::Histogram("weights", w);
  }
  tf::Graph g;
  tf::Variable w, global_step;
  tf::Output loss, loss_summary;
  tf::Operation train;
};

tf::Status Monitored(const std::string& dir) {
  Model m;
  const tf::Tensor pixels = tf::Tensor::Of<uint8_t>({1, 2, 3, 1}, {0, 50, 100, 150, 200, 250});
  tf::summary::Image("digit", tf::Const(m.g, pixels), {.max_outputs = 1});
  tf::summary::Audio("tone", tf::Const(m.g, tf::Tensor(tf::kFloat32, {1, 100, 1})), /*sample_rate=*/8000,
                     {.max_outputs = 1});
  tf::summary::Text("note", tf::Const(m.g, tf::Tensor::Scalar(std::string("**hello**"))));
  TF_ASSIGN_OR_RETURN(auto session, tf::MonitoredTrainingSession(m.g, {.hooks = {tf::StopAtStep(kTrainSteps)},
                                                                       .summary_dir = dir,
                                                                       .save_summaries_every_steps = 1}));
  while (!session->ShouldStop()) TF_RETURN_IF_ERROR(session->Run({m.train}).status());
  return session->Close();
}

tf::Status Supervised(const std::string& dir) {
  Model m;
  tf::Supervisor supervisor(m.g, {.logdir = dir, .summary_op = tf::Output()});
  TF_ASSIGN_OR_RETURN(auto session, supervisor.ManagedSession());
  for (int i = 0; i < kTrainSteps && !supervisor.ShouldStop(); ++i) {
    TF_ASSIGN_OR_RETURN(const auto values, session->Run({m.loss_summary}));
    TF_RETURN_IF_ERROR(supervisor.SummaryComputed(values[0]));
    TF_RETURN_IF_ERROR(session->Run({m.train}).status());
  }
  return session->Close();
}

tf::Status Traced(const std::string& dir) {
  tf::Graph g;
  const tf::Output x = tf::Placeholder(g, tf::kFloat32, {2, 2}, "x");
  tf::Output y;
  {
    auto device = g.Device("/device:CPU:1");
    y = tf::MatMul(x, x);
  }
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g, {.device_count = {{"CPU", 2}}}));
  tf::RunMetadata metadata;
  TF_RETURN_IF_ERROR(session
                         ->Run({y}, {{x, tf::Tensor(tf::kFloat32, {2, 2})}},
                               {.trace_level = tf::TraceLevel::kFull, .output_partition_graphs = true}, &metadata)
                         .status());
  TF_ASSIGN_OR_RETURN(auto writer, tf::summary::FileWriter::Open(dir + "/traced"));
  TF_RETURN_IF_ERROR(writer->AddGraph(g));
  TF_RETURN_IF_ERROR(writer->AddRunMetadata(metadata, "step_7", 7));
  TF_RETURN_IF_ERROR(writer->Close());
  TF_ASSIGN_OR_RETURN(const std::string json, metadata.ToChromeTrace());
  std::FILE* file = std::fopen((dir + "/trace.json").c_str(), "w");
  if (file == nullptr) return absl::InternalError("cannot write trace.json");
  std::fwrite(json.data(), 1, json.size(), file);
  std::fclose(file);
  return absl::OkStatus();
}

tf::Status Main(const std::string& dir) {
  TF_RETURN_IF_ERROR(Monitored(dir + "/monitored"));
  TF_RETURN_IF_ERROR(Supervised(dir + "/supervised"));
  return Traced(dir);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tensorboard_log DIR\n");
    return 2;
  }
  return tf::ExitCode(Main(argv[1]));
}
