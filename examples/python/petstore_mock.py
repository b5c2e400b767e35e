"""Controls a running petstore-mock. Needs nothing but the standard library."""

import json
import os
import ssl
import urllib.request
import uuid


class Sandbox:
    """One isolated copy of the mock's store, keys and journal.

    `PETSTORE_MOCK_URL`, `PETSTORE_MOCK_KEY` and, for HTTPS, `PETSTORE_MOCK_CA` come from
    `petstore-mock exec`. A server that does not listen on loopback also wants the
    `PETSTORE_MOCK_CONTROL_TOKEN` that it was started with.
    """

    def __init__(self, name=None):
        name = name or f"python-{uuid.uuid4()}"
        service = os.environ.get("PETSTORE_MOCK_URL", "http://127.0.0.1:4010/v1")
        self._base = f"{service.removesuffix('/v1')}/~{name}"
        self.url = f"{self._base}/v1"
        self.key = os.environ.get("PETSTORE_MOCK_KEY", "demo-key")
        self.tls = ssl.create_default_context(cafile=os.environ.get("PETSTORE_MOCK_CA"))

    def ship(self, order_id):
        """Marks an order as shipped, so that it can no longer be cancelled."""
        self._control("PATCH", f"orders/{order_id}", {"status": "shipped"})

    def order(self, order_id):
        return self._control("GET", f"orders/{order_id}")

    def use(self, *scenarios):
        """Replaces the active scenarios."""
        self._control("PUT", "scenario", {"scenarios": scenarios})

    def count(self, **filters):
        """Counts the exchanges that match, such as `operation="cancelOrder", status=409`."""
        reply = self._control("POST", "requests/count", filters)
        if not reply["complete"]:
            raise AssertionError("The journal has dropped exchanges; start with a larger --journal.")
        return reply["count"]

    def _control(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        token = os.environ.get("PETSTORE_MOCK_CONTROL_TOKEN")
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self._base}/__mock/{path}", data=data, headers=headers, method=method
        )
        with urllib.request.urlopen(request, timeout=10, context=self.tls) as reply:
            return json.loads(reply.read() or b"null")
