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

    def wait(self, at_least=1, **filters):
        """Waits until so many exchanges match, for 5 seconds at most, and returns how many do."""
        asked = {**filters, "atLeast": at_least, "within": "PT5S"}
        return self._control("POST", "requests/count", asked)["count"]

    def hold(self, operation, **rule):
        """Holds replies back until they are released. `where` and `calls` select calls."""
        latch = Latch(self, f"hold-{uuid.uuid4().hex[:8]}")
        self._control("POST", "holds", {"on": operation, "hold": latch.name, **rule})
        return latch

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


class Latch:
    """Holds replies back until a test releases them."""

    def __init__(self, mock, name):
        self._mock = mock
        self.name = name

    def arrived(self, count=1):
        """Waits until so many calls have arrived."""
        found = self._mock.wait(count, hold=self.name)
        if found < count:
            raise AssertionError(f"{found} of {count} calls arrived within 5 seconds.")

    def release(self, newest_first=False):
        """Sends the replies, and holds no later ones."""
        which = {"name": self.name, "newestFirst": newest_first, "open": True}
        self._mock._control("POST", "holds/release", which)
