// Loaded into a tool with LD_PRELOAD, starts it once for many commands (tool_runner.py): each
// command runs main in a new process that has loaded the libraries already. Loading them takes
// longer than most commands of tests.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main tool_main = nullptr;

// Each message on the socket is a command. It has the working directory and the words of the
// command, each with a 0 at its end. With the message come the descriptors of standard output and
// standard error. The answer to it is the status that waitpid returns.
int Serve(int, char**, char** environment) {
  const char* const variable = getenv("CFILE_FORK_SERVER");
  const int connection = atoi(variable);
  unsetenv("CFILE_FORK_SERVER");
  unsetenv("LD_PRELOAD");
  std::vector<char> text(1 << 20);
  for (;;) {
    iovec place = {text.data(), text.size()};
    int output[2];
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(output))];
    msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t size = recvmsg(connection, &message, 0);
    if (size <= 0) return 0;  // the test has ended
    std::memcpy(output, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(output));
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::vector<char*> words;
      for (char* word = text.data(); word < text.data() + size; word += std::strlen(word) + 1)
        words.push_back(word);
      words.push_back(nullptr);
      if (chdir(words[0]) != 0 || dup2(output[0], 1) < 0 || dup2(output[1], 2) < 0) abort();
      for (const int descriptor : {connection, output[0], output[1]}) close(descriptor);
      return tool_main(static_cast<int>(words.size()) - 2, words.data() + 1, environment);
    }
    for (const int descriptor : output) close(descriptor);
    int status = -1;
    waitpid(child, &status, 0);
    if (send(connection, &status, sizeof(status), 0) < 0) return 1;
  }
}

}  // namespace

// Replaces the function of the C library that calls main.
extern "C" int __libc_start_main(Main main, int count, char** words, void (*begin)(), void (*end)(),
                                 void (*loader)(), void* stack) {
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  tool_main = main;
  return start(getenv("CFILE_FORK_SERVER") == nullptr ? main : Serve, count, words, begin, end,
               loader, stack);
}
