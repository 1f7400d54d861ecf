#!/usr/bin/env python3
"""Starts moto's S3 server, proxies that disturb requests to it, and nginx for https, on loopback. Then runs a test program.

  with_servers.py PROGRAM [ARGUMENTS...]
  with_servers.py --server PORT PROGRAM [ARGUMENTS...]

The second form uses the S3 server at this port instead of moto. This server has a bucket with the name "bucket", verifies signatures, and
knows the key AWS_ACCESS_KEY_ID with the secret AWS_SECRET_ACCESS_KEY. tests/campaign/s3_server calls this form.

The program finds the servers in its environment: CFILE_TEST_SERVER_NAME is http://127.0.0.1:PORT. NAME is S3 for the server itself, or
one of the disturbances below in capital letters. The exit code is that of the program, or 77 (skipped) if moto is not installed.
Each proxy listens on a port of its own and disturbs all requests in the same way, so no test waits for another one. Requests to
/-/count answer with the number of requests that the proxy has received, without these requests. Requests to /-/most answer with the
highest number of requests that were under way at the same time.

nginx serves the folder CFILE_TEST_WEB_FOLDER at CFILE_TEST_SERVER_HTTPS. Its certificate is for localhost only, and is signed by the
authority in CFILE_TEST_AUTHORITY, which is made for this run. Without nginx or openssl, these variables are not set.
CFILE_TEST_VERIFIES_SIGNATURES is set in the second form.
"""
import collections
import contextlib
import http.client
import http.server
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HOST = "127.0.0.1"


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes a request to the server, and its response back. Subclasses disturb this."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    backend = None  # port of the server
    seen = None  # how often each request has arrived
    received = None  # the number of requests
    under_way = None  # the number of requests now, and the highest number
    lock = threading.Lock()

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/-/count":
            with self.lock:
                count = self.received[0]
            return self.respond(200, [], str(count).encode())
        if self.path == "/-/most":
            with self.lock:
                most = self.under_way[1]
            return self.respond(200, [], str(most).encode())
        with self.lock:
            self.received[0] += 1
            self.under_way[0] += 1
            self.under_way[1] = max(self.under_way)
            key = (self.command, self.path, self.headers.get("Range"))
            self.seen[key] += 1
            attempt = self.seen[key]
        try:
            return self.disturb(body, attempt)
        finally:
            with self.lock:
                self.under_way[0] -= 1

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request

    def forward(self, body):
        """The status, the headers and the body of the server's response."""
        connection = http.client.HTTPConnection(HOST, self.backend)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body or None)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, response.getheaders(), content

    def respond(self, status, headers, content, sent=None):
        """Sends a response; `sent` is the part of the content that is sent."""
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        length = next((value for name, value in headers if name.lower() == "content-length"), None) if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.write(content if sent is None else content[:sent])
        if sent is not None:
            self.cut()

    def write(self, content):
        self.wfile.write(content)

    def cut(self):
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(2)

    def disturb(self, body, attempt):
        self.respond(*self.forward(body))

    def error(self, status, code):
        self.respond(status, [("x-amz-request-id", "request-1")],
                     f"<Error><Code>{code}</Code><Message>Please try again.</Message></Error>".encode())

    def log_message(self, *_):
        pass


class Latency(Proxy):
    """Answers 20 ms later."""
    latency_seconds = 0.02

    def disturb(self, body, attempt):
        time.sleep(self.latency_seconds)
        super().disturb(body, attempt)


class LongLatency(Latency):
    latency_seconds = 0.1


class Gathering(Proxy):
    """Answers no request for a range that is not at an end, before 12 requests were under way at the same time, or one has waited long."""
    gathered = threading.Condition()
    most = 0

    def disturb(self, body, attempt):
        if re.match(r"bytes=[1-9]", self.headers.get("Range", "")):
            with self.gathered:
                Gathering.most = max(Gathering.most, self.under_way[0])
                self.gathered.notify_all()
                self.gathered.wait_for(lambda: Gathering.most >= 12, timeout=5)
        super().disturb(body, attempt)


class First:
    """Calls disturb_first for the first attempt of each request. A base class beside Proxy."""
    def disturb(self, body, attempt):
        if attempt == 1:
            return self.disturb_first(body)
        return super().disturb(body, attempt)


class CutFirst(First, Proxy):
    """Closes the connection before the first answer to each request."""
    def disturb_first(self, body):
        self.cut()


class TruncatedFirst(Proxy):
    """Sends half of the first answer to each request, and then closes the connection."""
    def disturb(self, body, attempt):
        status, headers, content = self.forward(body)
        self.respond(status, headers, content, len(content) // 2 if attempt == 1 and content else None)


class LostAnswerFirst(First, Proxy):
    """Lets the server do what is asked for, and closes the connection without an answer."""
    def disturb_first(self, body):
        self.forward(body)
        self.cut()


class LostAnswerLate(Proxy):
    """Closes the connection half a second after the first commit of each table, without an answer."""
    def disturb(self, body, attempt):
        answer = self.forward(body)
        if self.command == "PUT" and self.path.endswith("table.cft") and attempt == 1:
            time.sleep(0.5)
            return self.cut()
        return self.respond(*answer)


class SlowDownFirst(First, Proxy):
    def disturb_first(self, body):
        self.error(503, "SlowDown")


class InternalErrorFirst(First, Proxy):
    def disturb_first(self, body):
        self.error(500, "InternalError")


class AlwaysUnavailable(Proxy):
    def disturb(self, body, attempt):
        self.error(503, "SlowDown")


class WrongRange(Proxy):
    """Answers with the range that begins one byte later, except to requests for the ends of an object."""
    def disturb(self, body, attempt):
        range_header = self.headers.get("Range", "")
        found = re.fullmatch(r"bytes=([1-9]\d*)-(\d+)", range_header)
        if found:
            self.headers.replace_header("Range", f"bytes={int(found[1]) + 1}-{int(found[2]) + 1}")
        super().disturb(body, attempt)


class Drip(Proxy):
    """Sends a byte every 0.2 seconds of ranges that are not at an end of an object."""
    def write(self, content):
        if not re.match(r"bytes=[1-9]", self.headers.get("Range", "")):
            return super().write(content)
        for at in range(len(content)):
            time.sleep(0.2)
            super().write(content[at:at + 1])
        return None


class NoRanges(Proxy):
    """Answers with the whole object, whatever range is asked for."""
    def disturb(self, body, attempt):
        del self.headers["Range"]
        super().disturb(body, attempt)


class PlusForSpace(Proxy):
    """Encodes spaces in lists of keys as Amazon S3 does."""
    def disturb(self, body, attempt):
        status, headers, content = self.forward(body)
        is_list = self.command == "GET" and "list-type=2" in self.path
        self.respond(status, headers, content.replace(b"%20", b"+") if is_list else content)


class NoConditions(Proxy):
    """Ignores the conditions of requests that write, as some servers do."""
    def disturb(self, body, attempt):
        if self.command == "PUT":
            del self.headers["If-Match"]
            del self.headers["If-None-Match"]
        super().disturb(body, attempt)


class NoNewCondition(Proxy):
    """Ignores only the condition that there is no object."""
    def disturb(self, body, attempt):
        if self.command != "GET":
            del self.headers["If-None-Match"]
        super().disturb(body, attempt)


class OnlyWithToken(Proxy):
    """Refuses requests without the session token the/token+=, or without this token in the signature."""
    def disturb(self, body, attempt):
        signed = re.search(r"SignedHeaders=(\S*),", self.headers.get("Authorization", ""))
        if self.headers.get("x-amz-security-token") != "the/token+=" or "x-amz-security-token" not in signed[1].split(";"):
            return self.error(403, "InvalidToken")
        return super().disturb(body, attempt)


class ErrorInSuccess(Proxy):
    """Completes no upload: begins the answer with 200, and then reports an error."""
    def disturb(self, body, attempt):
        if self.command == "POST" and "uploadId=" in self.path:
            return self.respond(200, [], b"<Error><Code>InternalError</Code><Message>We failed.</Message></Error>")
        return super().disturb(body, attempt)


class ErrorAfterSuccess(Proxy):
    """Completes uploads, and then reports an error."""
    def disturb(self, body, attempt):
        answer = self.forward(body)
        if self.command == "POST" and "uploadId=" in self.path:
            return self.respond(200, [], b"<Error><Code>InternalError</Code><Message>We failed.</Message></Error>")
        return self.respond(*answer)


class EmptySuccess(Proxy):
    """Completes uploads, and answers 200 without a body."""
    def disturb(self, body, attempt):
        status, headers, content = self.forward(body)
        self.respond(status, headers, b"" if self.command == "POST" and "uploadId=" in self.path else content)


class DamagedOnce(Proxy):
    """Flips a bit in the first answer with a range that is not at an end of the object, or that is the whole object."""
    damaged = set()

    def disturb(self, body, attempt):
        status, headers, content = self.forward(body)
        if re.match(r"bytes=([1-9]|0-\d{5})", self.headers.get("Range", "")) and self.path not in self.damaged:
            self.damaged.add(self.path)
            content = content[:1000] + bytes([content[1000] ^ 1]) + content[1001:]
        self.respond(status, headers, content)


class RedirectElsewhere(Proxy):
    """Redirects to another host name. Requests that arrive there must not carry a secret; then they are answered."""
    def disturb(self, body, attempt):
        if self.headers["Host"].startswith(HOST):
            return self.respond(307, [("Location", f"http://localhost:{self.server.server_port}{self.path}")], b"")
        if self.headers.get("Authorization"):
            return self.error(400, "SecretFollowedRedirect")
        return super().disturb(body, attempt)


def all_proxies(proxy=Proxy):
    """A class and all classes below it."""
    return [proxy, *(below for child in proxy.__subclasses__() for below in all_proxies(child))]


def name_of(proxy):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", proxy.__name__).upper()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # the tests close connections


def start(proxy, backend):
    """Starts a proxy. Returns its port."""
    handler = type(proxy.__name__, (proxy,), {"backend": backend, "seen": collections.Counter(), "received": [0], "under_way": [0, 0]})
    server = Server((HOST, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


NGINX = """
daemon off;
pid FOLDER/nginx.pid;
error_log stderr crit;
worker_processes 1;
events {}
http {
  access_log off;
  client_body_temp_path FOLDER/temporary; proxy_temp_path FOLDER/temporary; fastcgi_temp_path FOLDER/temporary;
  uwsgi_temp_path FOLDER/temporary; scgi_temp_path FOLDER/temporary;
  server {
    listen 127.0.0.1:PORT ssl;
    ssl_certificate FOLDER/localhost.pem;
    ssl_certificate_key FOLDER/localhost.key;
    root FOLDER/web;
    location /to-http { return 302 http://127.0.0.1:1/x; }
  }
}
"""


def free_port():
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return taken.getsockname()[1]


def start_nginx(folder):
    """Starts nginx. Returns its process, and what the program must know."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-days", "2", "-subj", "/CN=authority of a test")
    openssl("req", *key, "-keyout", "localhost.key", "-out", "localhost.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    openssl("x509", "-req", "-in", "localhost.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
            "-out", "localhost.pem", "-days", "2", "-extfile", "names")
    (folder / "web").mkdir()
    folder.chmod(0o755)  # the worker of nginx has another user if the tests run as root
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.replace("FOLDER", str(folder)).replace("PORT", str(port)))
    server = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", "stderr"])
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                break
        if server.poll() is not None:
            sys.exit("nginx did not start")
        time.sleep(0.02)
    return server, {"CFILE_TEST_SERVER_HTTPS": f"https://localhost:{port}", "CFILE_TEST_AUTHORITY": str(folder / "authority.pem"),
                    "CFILE_TEST_WEB_FOLDER": str(folder / "web")}


def one_write_at_a_time(app):
    """moto compares the version of a conditional PUT, and then replaces the object: two PUTs at the same time could both be successful."""
    lock = threading.Lock()

    def locked(environ, start_response):
        with contextlib.nullcontext() if environ["REQUEST_METHOD"] == "GET" else lock:
            return app(environ, start_response)
    return locked


def start_moto():
    """Starts moto with a bucket. Returns the server and its port."""
    try:
        from moto.server import ThreadedMotoServer
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    import logging
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
    moto.start()
    moto._server.app = one_write_at_a_time(moto._server.app)
    port = moto.get_host_and_port()[1]
    connection = http.client.HTTPConnection(HOST, port)
    connection.request("PUT", "/bucket")
    assert connection.getresponse().status == 200
    return moto, port


def main():
    command = sys.argv[1:]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment["HOME"] = "/nonexistent"
    moto = None
    if command[0] == "--server":
        backend, command = int(command[1]), command[2:]
        environment |= {name: os.environ[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        environment["CFILE_TEST_VERIFIES_SIGNATURES"] = "1"
    else:
        moto, backend = start_moto()
        environment |= {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "test-secret"}
    environment["CFILE_TEST_SERVER_S3"] = f"http://{HOST}:{backend}"
    for proxy in all_proxies():
        environment[f"CFILE_TEST_SERVER_{name_of(proxy)}"] = f"http://{HOST}:{start(proxy, backend)}"
    nginx = None
    with tempfile.TemporaryDirectory() as folder:
        if shutil.which("nginx") and shutil.which("openssl"):
            nginx, variables = start_nginx(pathlib.Path(folder))
            environment |= variables
        code = subprocess.run(command, env=environment, check=False).returncode
        if nginx is not None:
            nginx.terminate()
            nginx.wait()
    if moto is not None:
        moto.stop()
    sys.exit(code)


if __name__ == "__main__":
    main()
