"""Makes the calls of a file over one connection of http.client, and prints a line for each reply.

A line of the file is method, path, key and body, a line printed is status and body, with tabs between.
"""

import http.client
import json
import sys
from urllib.parse import urlsplit

service = urlsplit(sys.argv[1])
connection = http.client.HTTPConnection(service.hostname, service.port)
with open(sys.argv[2], encoding="utf-8") as calls:
    for line in calls:
        method, path, key, body = line.rstrip("\n").split("\t")
        headers = {"Authorization": f"Bearer {key}"}
        if body:
            headers["Content-Type"] = "application/json"
        # Through Python's own integers, which have no limit.
        sent = json.dumps(json.loads(body)) if body else None
        connection.request(method, service.path + path, sent, headers)
        reply = connection.getresponse()
        received = reply.read()
        print(reply.status, json.dumps(json.loads(received)) if received else "", sep="\t")
