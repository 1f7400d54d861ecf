"""Runs the tools in tests."""

import os
import socket
import struct
import subprocess
import threading

# libcfile_fork_server.so. Without it, each command starts its own process.
LIBRARY = os.environ.pop("CFILE_FORK_LIBRARY", None)
MAX_COMMAND_BYTES = 100_000  # longer ones do not fit into a message
servers = threading.local()  # for each thread, by tool and environment


class Server:
    """A tool that runs one command after the other (fork_server.cc)."""

    def __init__(self, tool, environment):
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {**environment, "LD_PRELOAD": LIBRARY, "CFILE_FORK_SERVER": str(other.fileno())}
        self.process = subprocess.Popen([tool], env=environment, pass_fds=[other.fileno()])
        other.close()

    def run(self, command, arguments, timeout):
        with open(os.memfd_create("stdout"), "rb") as out, open(os.memfd_create("stderr"), "rb") as error:
            self.socket.settimeout(timeout)
            socket.send_fds(self.socket, [command], [out.fileno(), error.fileno()])
            try:
                answer = self.socket.recv(4)
            except TimeoutError:
                self.process.kill()
                raise subprocess.TimeoutExpired(arguments, timeout) from None
            code = os.waitstatus_to_exitcode(*struct.unpack("i", answer))
            return subprocess.CompletedProcess(arguments, code, *(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)
                                                                  for file in (out, error)))

    def __del__(self):
        self.socket.close()
        self.process.wait()


def run(*arguments, cwd=None, timeout=300, **variables):
    """Runs a program, most often a tool, like subprocess.run with capture_output. The arguments may be paths and numbers. `variables`
    are added to the environment."""
    arguments = [os.fsencode(argument if isinstance(argument, (bytes, os.PathLike)) else str(argument)) for argument in arguments]
    environment = {**os.environ, **variables}
    command = b"".join(word + b"\0" for word in (os.fsencode(cwd or "."), *arguments))
    if LIBRARY is None or not os.path.basename(arguments[0]).startswith(b"cfile-") or len(command) > MAX_COMMAND_BYTES:
        return subprocess.run(arguments, cwd=cwd, capture_output=True, timeout=timeout, check=False, env=environment)
    key = str((arguments[0], environment))
    if key not in vars(servers):
        setattr(servers, key, Server(arguments[0], environment))
    return getattr(servers, key).run(command, arguments, timeout)
