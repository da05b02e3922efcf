// Saves or restores a checkpoint on a cluster, for sharded_checkpoints.py:
//
//   sharded_checkpoints save TARGET PS PARTS PREFIX
//   sharded_checkpoints restore TARGET PS PARTS PREFIX
//
// PS is the number of parameter servers, and PARTS the number of parts of the table. `restore` begins with other
// values, and fails unless the restored values equal the saved ones bit for bit.
#include <tensorbraid/tensorbraid.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace tf = tensorbraid;

namespace {

constexpr int64_t kRows = 7, kColumns = 3;

// Returns a tensor whose elements have the bits factor, 2 * factor, 3 * factor and so on. With the factors below, they
// include negative, tiny and huge numbers.
template <typename Bits>
tf::Tensor Filled(tf::DType dtype, const tf::Shape& shape, Bits factor) {
  tf::Tensor tensor(dtype, shape);
  auto* bytes = static_cast<char*>(tensor.mutable_raw_data());
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const Bits bits = static_cast<Bits>(i + 1) * factor;
    std::memcpy(bytes + i * static_cast<int64_t>(sizeof(bits)), &bits, sizeof(bits));
  }
  return tensor;
}

tf::Status Main(const std::string& what, const std::string& target, int ps, int64_t parts, const std::string& prefix) {
  const std::vector<tf::Tensor> want = {
      Filled<uint32_t>(tf::kFloat32, {kRows, kColumns}, 2'654'435'761u),
      Filled<uint64_t>(tf::kFloat64, {4}, 0x9e3779b97f4a7c15u),
      Filled<uint64_t>(tf::kInt64, {}, 0xfffffb73ac2a3000u),
  };
  tf::Graph g;
  auto device = g.Device(tf::ReplicaDeviceSetter({.ps_tasks = ps, .worker_device = "/job:worker/task:0"}));
  const tf::PartitionedVariable table(g, want[0], tf::FixedSizePartitioner(parts), {.name = "table"});
  const tf::Variable numbers(g, {4}, tf::Constant(want[1]), {.name = "numbers", .dtype = tf::kFloat64});
  const tf::Variable count(g, {}, tf::Constant(want[2]), {.name = "count", .dtype = tf::kInt64});
  std::vector<tf::Operation> clear = {numbers.Assign(tf::ZerosLike(numbers)), count.Assign(tf::ZerosLike(count))};
  for (const tf::Variable& part : table.parts()) clear.push_back(part.Assign(tf::ZerosLike(part)));
  const tf::Operation cleared = tf::Group(g, clear);
  const tf::Output whole = table.AsTensor();
  tf::Saver saver(g);
  const tf::Operation init = tf::GlobalVariablesInitializer(g);
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g, {.target = target}));
  TF_RETURN_IF_ERROR(session->Run({init}).status());
  if (what == "save") return saver.Save(*session, prefix).status();

  TF_RETURN_IF_ERROR(session->Run({cleared}).status());
  TF_RETURN_IF_ERROR(saver.Restore(*session, prefix));
  TF_ASSIGN_OR_RETURN(const auto got, session->Run({whole, numbers, count}));
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i].num_bytes() != want[i].num_bytes() ||
        std::memcmp(got[i].raw_data(), want[i].raw_data(), want[i].num_bytes()) != 0) {
      return absl::DataLossError("tensor " + std::to_string(i) + " has other values: " + got[i].ToString(100));
    }
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: sharded_checkpoints save|restore TARGET PS PARTS PREFIX\n");
    return 2;
  }
  return tf::ExitCode(Main(argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]), argv[5]));
}
