"""A small S3 server for tests, which can also misbehave.

It keeps objects in memory or, with --directory, in files, so that it can be
killed and started again. It checks each signature by its own definition of it,
and each body by the hash in its header.

Usage: s3_server.py --port N [--directory DIR] [--pages N] [--certificate FILE]

It ends with its parent. The key is AKIDEXAMPLE, wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY,
the region us-east-1, and each bucket that is asked for exists, except those
whose name begins with "no-".

PUT /.faults with a JSON list makes the next requests fail, one entry each:
{"on": "GET", "what": "500", "times": 2, "match": "files/"}. `what` is a status,
or one of the words in `misbehave`. GET /.faults returns those that are left, and
GET /.counts how many requests of each method there were, and bytes of bodies.

SPDX-License-Identifier: MIT
"""
import datetime
import hashlib
import hmac
import http.server
import io
import json
import os
import re
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse
import xml.sax.saxutils

KEY_ID = "AKIDEXAMPLE"
KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
REGION = "us-east-1"


class Objects:
    """Objects by (bucket, key), each as (bytes, time)."""

    def __init__(self, directory):
        self.directory = directory
        self.lock = threading.Lock()
        self.memory = {}
        self.uploads = {}

    def path(self, bucket, key):
        name = urllib.parse.quote(bucket + "/" + key, safe="")
        return os.path.join(self.directory, name)

    def put(self, bucket, key, data):
        if self.directory is None:
            self.memory[bucket, key] = (data, time.time())
            return
        path = self.path(bucket, key)
        # ".new" cannot end the name of an object that a test uses
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.rename(path + ".new", path)

    def get(self, bucket, key):
        if self.directory is None:
            found = self.memory.get((bucket, key))
            return None if found is None else found[0]
        try:
            with open(self.path(bucket, key), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def delete(self, bucket, key):
        if self.directory is None:
            self.memory.pop((bucket, key), None)
        elif os.path.exists(self.path(bucket, key)):
            os.unlink(self.path(bucket, key))

    def list(self, bucket):
        """The (key, size, time) of all objects of a bucket, in order."""
        found = []
        if self.directory is None:
            for (of, key), (data, at) in self.memory.items():
                if of == bucket:
                    found.append((key, len(data), at))
        else:
            for name in os.listdir(self.directory):
                of, _, key = urllib.parse.unquote(name).partition("/")
                if of == bucket and not name.endswith(".new"):
                    status = os.stat(os.path.join(self.directory, name))
                    found.append((key, status.st_size, status.st_mtime))
        return sorted(found, key=lambda item: item[0].encode())


def hmac_of(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def encoded(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-._~")


def signature(method, path, query, headers, names, date, scope, body_hash):
    pairs = sorted((encoded(n), encoded(v)) for n, v in query)
    lines = [method, encoded(path, "/"),
             "&".join(n + "=" + v for n, v in pairs)]
    lines += [n + ":" + " ".join(headers[n].split()) for n in names]
    lines += ["", ";".join(names), body_hash]
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope,
                      hashlib.sha256("\n".join(lines).encode()).hexdigest()])
    key = ("AWS4" + KEY).encode()
    for part in scope.split("/"):
        key = hmac_of(key, part)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    # ------------------------------------------------------------ answers ---

    def answer(self, status, body=b"", headers=(), size=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length",
                             str(len(body) if size is None else size))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, code, message="no", more=""):
        body = ('<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s</Code>'
                "<Message>%s</Message>%s</Error>" % (code, message, more))
        self.answer(status, body.encode(),
                    [("Content-Type", "application/xml")])

    # ------------------------------------------------------------- faults ---

    def take_fault(self, path):
        server = self.server
        with server.objects.lock:
            for fault in server.faults:
                if fault["times"] > 0 and fault.get("on", "") in (
                        "", self.command) and fault.get("match", "") in path:
                    fault["times"] -= 1
                    return fault["what"]
        return None

    def close(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()

    def misbehave(self, what, data=b""):
        """Answers wrongly. Returns whether the request is over."""
        total = len(data)
        if what.isdigit():
            self.fail(int(what), "SlowDown" if what == "503" else "Bad" + what)
        elif what == "empty":
            self.answer(int(500))
        elif what == "drop":
            self.close()
        elif what == "cut":  # of the body that was announced
            self.answer(200, data[:total // 2], size=total)
            self.close()
        elif what == "short":  # fewer bytes than there are, and says so
            part = data[:total // 2]
            self.answer(206, part, [("Content-Range", "bytes 0-%d/%d" % (
                len(part) - 1, total))])
        elif what == "liar":  # other bytes than it says
            self.answer(206, data[:total // 2], [
                ("Content-Range", "bytes 0-%d/%d" % (total - 1, total))])
        elif what == "long":  # more bytes than asked for
            self.answer(200, data + bytes(1000000))
        elif what == "whole":  # ignores the range
            self.answer(200, data)
        elif what == "flip":
            flipped = bytearray(data)
            flipped[total // 2] ^= 1
            self.answer(206, bytes(flipped), [
                ("Content-Range", "bytes 0-%d/%d" % (total - 1, total))])
        elif what == "xml":
            self.answer(200, b"<ListBucketResult><Contents><Key>a</Key>")
        elif what == "loop":
            self.answer(200, b"<L><IsTruncated>true</IsTruncated></L>")
        elif what == "error-in-200":
            self.fail(200, "InternalError")
        elif what == "region":
            self.fail(301, "PermanentRedirect", "other region",
                      "<Region>eu-west-1</Region>")
        elif what == "slow":
            time.sleep(0.2)
            return False
        else:
            raise ValueError(what)
        return True

    # ------------------------------------------------------------ checks ---

    def is_signed(self, path, query, body):
        headers = {n.lower(): v for n, v in self.headers.items()}
        match = re.fullmatch(
            "AWS4-HMAC-SHA256 Credential=([^/]*)/([^,]*), "
            "SignedHeaders=([^,]*), Signature=(.*)",
            headers.get("authorization", ""))
        if not match:
            return False
        key_id, scope, names, given = match.groups()
        date = headers["x-amz-date"]
        body_hash = headers["x-amz-content-sha256"]
        now = datetime.datetime.utcnow()
        age = abs(now - datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ"))
        return (key_id == KEY_ID and age.total_seconds() < 900
                and scope == date[:8] + "/" + REGION + "/s3/aws4_request"
                and "host" in names.split(";")
                and body_hash == hashlib.sha256(body).hexdigest()
                and given == signature(self.command, path, query, headers,
                                       names.split(";"), date, scope,
                                       body_hash))

    # ----------------------------------------------------------- requests ---

    def control(self, path, body):
        server = self.server
        if path == "/.faults" and self.command == "PUT":
            server.faults = [dict({"times": 1}, **f) for f in json.loads(body)]
            self.answer(200)
        elif path == "/.faults":
            self.answer(200, json.dumps(
                [f for f in server.faults if f["times"] > 0]).encode())
        else:
            self.answer(200, json.dumps(server.counts).encode())

    def handle_any(self):
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        query = urllib.parse.parse_qsl(url.query, keep_blank_values=True)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        counts = self.server.counts
        if path.startswith("/."):
            return self.control(path, body)
        with self.server.objects.lock:
            counts[self.command] = counts.get(self.command, 0) + 1
            counts["sent"] = counts.get("sent", 0) + len(body)
        host = self.headers["Host"].split(":")[0]
        bucket, _, key = path[1:].partition("/")
        if host.endswith(".localhost"):
            bucket, key = host[:-len(".localhost")], path[1:]
        if not self.is_signed(path, query, body):
            return self.fail(403, "SignatureDoesNotMatch", "not signed by "
                             "the key &quot;" + KEY_ID + "&quot;")
        if bucket.startswith("no-"):
            return self.fail(404, "NoSuchBucket")
        fault = self.take_fault(path + "?" + url.query)
        if fault == "lost":  # it is done, and the answer does not come
            self.wfile = io.BytesIO()
            self.serve(bucket, key, dict(query), body)
            return self.close()
        if fault is not None:
            data = self.server.objects.get(bucket, key) or b""
            if self.misbehave(fault, data):
                return None
        return self.serve(bucket, key, dict(query), body)

    def serve(self, bucket, key, query, body):
        objects = self.server.objects
        if self.command == "GET" and key == "":
            return self.serve_list(bucket, query)
        if self.command == "GET":
            return self.serve_bytes(objects.get(bucket, key))
        if self.command == "PUT" and "uploadId" in query:
            parts = objects.uploads.get(query["uploadId"])
            if parts is None:
                return self.fail(404, "NoSuchUpload")
            parts[int(query["partNumber"])] = body
            return self.answer(200, headers=[
                ("ETag", '"%s"' % hashlib.md5(body).hexdigest())])
        if self.command == "PUT":
            with objects.lock:
                objects.put(bucket, key, body)
            return self.answer(200, headers=[("ETag", '"e"')])
        if self.command == "POST":
            return self.serve_upload(bucket, key, query, body)
        if "uploadId" in query:
            objects.uploads.pop(query["uploadId"], None)
        else:
            objects.delete(bucket, key)
        return self.answer(204)

    def serve_upload(self, bucket, key, query, body):
        objects = self.server.objects
        if "uploads" in query:
            name = "up/%d=&+" % len(objects.uploads)
            objects.uploads[name] = {}
            return self.answer(200, (
                "<R><UploadId>%s</UploadId></R>" %
                xml.sax.saxutils.escape(name)).encode())
        parts = objects.uploads.pop(query["uploadId"], None)
        if parts is None:
            return self.fail(404, "NoSuchUpload")
        named = re.findall("<Part><PartNumber>([0-9]+)</PartNumber>"
                           "<ETag>([^<]*)</ETag></Part>", body.decode())
        if [int(n) for n, _ in named] != sorted(parts) or any(
                '"%s"' % hashlib.md5(parts[int(n)]).hexdigest() != e
                for n, e in named):
            return self.fail(400, "InvalidPart")
        objects.put(bucket, key, b"".join(parts[n] for n in sorted(parts)))
        return self.answer(200, b"<R><ETag>e</ETag></R>")

    def serve_bytes(self, data):
        if data is None:
            return self.fail(404, "NoSuchKey")
        match = re.fullmatch("bytes=([0-9]+)-([0-9]+)",
                             self.headers.get("Range", ""))
        if not match:
            return self.answer(200, data)
        first, last = int(match[1]), min(int(match[2]), len(data) - 1)
        if first >= len(data):
            return self.fail(416, "InvalidRange")
        return self.answer(206, data[first:last + 1], [
            ("Content-Range", "bytes %d-%d/%d" % (first, last, len(data)))])

    def serve_list(self, bucket, query):
        after = query.get("continuation-token", "")
        found = [o for o in self.server.objects.list(bucket)
                 if o[0].startswith(query["prefix"])
                 and o[0].encode() > after.encode()]
        page = found[:min(int(query["max-keys"]), self.server.page_size)]
        text = "<?xml version='1.0'?><!-- a -- page -->\n<ListBucketResult>"
        for key, size, at in page:
            when = datetime.datetime.utcfromtimestamp(at)
            text += ("<Contents><Key>%s</Key><LastModified>%s.000Z"
                     "</LastModified><ETag>&quot;e&quot;</ETag><Size>%d</Size>"
                     "<StorageClass/></Contents>" % (
                         xml.sax.saxutils.escape(key),
                         when.strftime("%Y-%m-%dT%H:%M:%S"), size))
        more = len(found) > len(page)
        text += "<IsTruncated>%s</IsTruncated>" % ("true" if more else "false")
        if more:
            text += ("<NextContinuationToken>%s</NextContinuationToken>" %
                     xml.sax.saxutils.escape(page[-1][0]))
        self.answer(200, (text + "</ListBucketResult>").encode())

    do_GET = do_PUT = do_POST = do_DELETE = handle_any


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(request, client_address)


def end_with(parent):
    """Ends this process when that one has ended."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


def main():
    threading.Thread(target=end_with, args=(os.getppid(),),
                     daemon=True).start()
    options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    server = Server(("127.0.0.1", int(options["--port"])), Handler)
    server.objects = Objects(options.get("--directory"))
    server.page_size = int(options.get("--pages", "1000"))
    server.faults = []
    server.counts = {}
    if "--certificate" in options:  # with its key
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options["--certificate"])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


main()
