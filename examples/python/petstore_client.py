"""A small client of the pet store service: the code under test in this example."""

import urllib.error
import urllib.request

OUTCOMES = {204: "cancelled", 404: "unknown", 409: "shipped"}


class PetstoreClient:
    def __init__(self, url, key, tls=None):
        self._url = url
        self._tls = tls
        self._headers = {"Authorization": f"Bearer {key}"}

    def cancel(self, order_id):
        request = urllib.request.Request(
            f"{self._url}/store/orders/{order_id}", headers=self._headers, method="DELETE"
        )
        try:
            with urllib.request.urlopen(request, timeout=10, context=self._tls) as reply:
                status = reply.status
        except urllib.error.HTTPError as error:
            status = error.code
        if status not in OUTCOMES:
            raise RuntimeError(f"The service answered with {status}.")
        return OUTCOMES[status]
