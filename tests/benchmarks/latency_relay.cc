// A relay in front of a server, which makes each request take longer, and measures each request:
//
//   build/release/tests/benchmarks/latency_relay SERVER_PORT MILLISECONDS [MEGABYTES_PER_SECOND]
//
// The relay listens on a free port of 127.0.0.1, prints the port, and passes bytes between its
// clients and 127.0.0.1:SERVER_PORT until it is killed. It delays each request by MILLISECONDS. It
// forwards all other bytes without a delay. The kernel forwards the bytes of answers, so they are
// not copied into the memory of this program. MEGABYTES_PER_SECOND limits the bytes of all answers
// together.
//
// When the next request begins on a connection, or the connection is closed, the relay prints one
// line about the last request: begin and end in nanoseconds of CLOCK_MONOTONIC, the bytes that the
// client has sent and received, and the first line of the request.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "tests/benchmarks/measure.h"

namespace {

using cfile::benchmarks::Check;

int64_t Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

int NewSocket(uint16_t port, bool listens) {
  const int result = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listens) {
    Check(bind(result, generic, sizeof(address)) == 0 && listen(result, 1024) == 0, "listen");
    socklen_t size = sizeof(address);
    getsockname(result, generic, &size);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
  } else {
    Check(connect(result, generic, sizeof(address)) == 0, "connect");
  }
  return result;
}

// The link that all answers share.
class Link {
 public:
  void set_bytes_per_second(int64_t bytes) { bytes_per_second_ = bytes; }

  // Waits until the link has sent `size_bytes` more bytes.
  void Wait(int64_t size_bytes) {
    if (bytes_per_second_ == 0) return;
    const int64_t nanoseconds = size_bytes * 1'000'000'000 / bytes_per_second_;
    int64_t free = 0;
    {
      const std::lock_guard lock(mutex_);
      free = free_ = std::max(free_, Now()) + nanoseconds;
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(free - Now()));
  }

 private:
  int64_t bytes_per_second_ = 0;  // 0: no limit
  std::mutex mutex_;
  int64_t free_ = 0;  // when the link has sent all bytes so far
};

Link& TheLink() {
  static Link link;
  return link;
}

void SendAtOnce(int connection) {
  const int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

class Connection {
 public:
  Connection(int client, uint16_t server_port, std::chrono::milliseconds latency)
      : client_(client), server_(NewSocket(server_port, false)), latency_(latency) {
    SendAtOnce(client_);
    SendAtOnce(server_);
  }

  void Run() {
    std::thread answers([this] { PassAnswers(); });
    PassRequests();
    shutdown(server_, SHUT_WR);
    answers.join();
    Print();
    close(client_);
    close(server_);
  }

 private:
  void PassRequests() {
    static thread_local std::array<char, 256 << 10> buffer;
    ssize_t size = 0;
    while ((size = recv(client_, buffer.data(), buffer.size(), 0)) > 0) {
      // Bytes after an answer are a new request.
      if (answered_.exchange(false)) {
        Print();
        begin_ = Now();
        received_ = 0;
        sent_ = 0;
        const std::string text(buffer.data(), static_cast<size_t>(size));
        line_ = text.substr(0, text.find('\r'));
        std::this_thread::sleep_for(latency_);
      }
      sent_ += size;
      for (ssize_t done = 0; done < size;) {
        const ssize_t now =
            send(server_, buffer.data() + done, static_cast<size_t>(size - done), MSG_NOSIGNAL);
        if (now <= 0) return;
        done += now;
      }
    }
  }

  void PassAnswers() {
    std::array<int, 2> ends;
    Check(pipe(ends.data()) == 0, "pipe");
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    ssize_t size = 0;
    while ((size = splice(server_, nullptr, ends[1], nullptr, 1 << 20, SPLICE_F_MOVE)) > 0) {
      received_ += size;
      end_ = Now();
      answered_ = true;
      TheLink().Wait(size);
      while (size > 0) {
        const ssize_t now =
            splice(ends[0], nullptr, client_, nullptr, static_cast<size_t>(size), SPLICE_F_MOVE);
        if (now <= 0) break;
        size -= now;
      }
      if (size > 0) break;
      end_ = Now();
    }
    shutdown(client_, SHUT_RDWR);
    close(ends[0]);
    close(ends[1]);
  }

  void Print() {
    if (line_.empty()) return;
    std::printf("%lld %lld %lld %lld %s\n", static_cast<long long>(begin_),
                static_cast<long long>(end_), static_cast<long long>(sent_),
                static_cast<long long>(received_), line_.c_str());
    std::fflush(stdout);
  }

  const int client_, server_;
  const std::chrono::milliseconds latency_;
  std::atomic<bool> answered_ = true;
  int64_t begin_ = 0, sent_ = 0;
  std::atomic<int64_t> end_ = 0, received_ = 0;
  std::string line_;
};

}  // namespace

int main(int argc, char** argv) {
  Check(argc == 3 || argc == 4,
        "usage: latency_relay SERVER_PORT MILLISECONDS [MEGABYTES_PER_SECOND]");
  const auto server_port = static_cast<uint16_t>(std::atoi(argv[1]));
  const std::chrono::milliseconds latency(std::atoi(argv[2]));
  if (argc == 4) TheLink().set_bytes_per_second(std::atoll(argv[3]) * 1'000'000);
  std::signal(SIGPIPE, SIG_IGN);
  const int listener = NewSocket(0, true);
  while (true) {
    const int client = accept(listener, nullptr, nullptr);
    if (client < 0) continue;
    std::thread([=] { Connection(client, server_port, latency).Run(); }).detach();
  }
}
