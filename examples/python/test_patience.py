"""Holds replies back. Runs with the other tests: see test_orders.py."""

import json
import threading
import unittest
import urllib.error
import urllib.request

from petstore_mock import Sandbox


class Screen:
    """A screen of an app that shows animals and orders: the code under test."""

    def __init__(self, mock):
        self._mock = mock
        self.loading = False
        self.animals = []
        self.orders = []
        self._searches = 0
        self._cancelled = set()

    def _send(self, path, method="GET", timeout=10):
        headers = {"Authorization": f"Bearer {self._mock.key}"}
        request = urllib.request.Request(self._mock.url + path, headers=headers, method=method)
        with urllib.request.urlopen(request, timeout=timeout, context=self._mock.tls) as reply:
            return json.loads(reply.read() or b"null")

    def search(self, status):
        self._searches += 1
        search = self._searches
        self.loading = True
        animals = self._send(f"/pets?status={status}")
        if search == self._searches:
            self.animals = animals
            self.loading = False

    def show_orders(self):
        orders = self._send("/store/orders")
        self.orders = [order for order in orders if order["id"] not in self._cancelled]

    def cancel(self, order_id, patience=10):
        try:
            self._send(f"/store/orders/{order_id}", "DELETE", patience)
        except TimeoutError:
            try:
                self._send(f"/store/orders/{order_id}", "DELETE")
            except urllib.error.HTTPError as error:
                if json.loads(error.read())["code"] != "order_already_cancelled":
                    raise
        self._cancelled.add(order_id)


class Patience(unittest.TestCase):
    def setUp(self):
        self.mock = Sandbox()
        self.screen = Screen(self.mock)

    def start(self, act, *words):
        thread = threading.Thread(target=act, args=words)
        thread.start()
        return thread

    def test_shows_a_spinner_until_the_list_is_there(self):
        latch = self.mock.hold("listPets")
        searched = self.start(self.screen.search, "available")
        latch.arrived()
        self.assertTrue(self.screen.loading)
        latch.release()
        searched.join()
        self.assertFalse(self.screen.loading)

    def test_keeps_a_cancelled_order_away_when_an_older_list_arrives(self):
        latch = self.mock.hold("listOrders")
        shown = self.start(self.screen.show_orders)
        latch.arrived()
        self.screen.cancel(1)
        latch.release()
        shown.join()
        self.assertNotIn(1, [order["id"] for order in self.screen.orders])

    def test_shows_the_latest_search_even_if_its_reply_comes_first(self):
        latch = self.mock.hold("listPets")
        first = self.start(self.screen.search, "available")
        latch.arrived(1)
        second = self.start(self.screen.search, "sold")
        latch.arrived(2)
        latch.release(newest_first=True)
        first.join()
        second.join()
        self.assertEqual({animal["status"] for animal in self.screen.animals}, {"sold"})

    def test_takes_an_order_for_cancelled_when_only_the_reply_was_late(self):
        self.mock.hold("cancelOrder", calls=1)
        self.screen.cancel(1, patience=1)
        self.assertEqual(self.mock.wait(2, operation="cancelOrder"), 2)


if __name__ == "__main__":
    unittest.main()
