#include "core/system/held_port.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tensorbraid {
namespace {

std::unique_ptr<grpc::Server> Listen(grpc::CallbackGenericService* service, int port, int* bound) {
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(service);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(), bound);
  return builder.BuildAndStart();
}

TEST(HeldPort, PortsDiffer) {
  std::set<int> ports;
  std::vector<HeldPort> held;
  for (int i = 0; i < 20; ++i) {
    auto port = HeldPort::Take();
    ASSERT_TRUE(port.ok()) << port.status();
    ports.insert(port->port());
    held.push_back(*std::move(port));
  }
  EXPECT_EQ(ports.size(), 20u);
}

TEST(HeldPort, OneGrpcServerCanListenOnItButNotASecond) {
  auto held = HeldPort::Take();
  ASSERT_TRUE(held.ok()) << held.status();
  grpc::CallbackGenericService services[2];  // they have no methods
  int bound = 0;
  auto first = Listen(&services[0], held->port(), &bound);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(bound, held->port());
  EXPECT_TRUE(grpc::CreateChannel("127.0.0.1:" + std::to_string(bound), grpc::InsecureChannelCredentials())
                  ->WaitForConnected(std::chrono::system_clock::now() + std::chrono::minutes(1)));
  EXPECT_EQ(Listen(&services[1], held->port(), &bound), nullptr);
}

}  // namespace
}  // namespace tensorbraid
