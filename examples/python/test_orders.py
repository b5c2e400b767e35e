"""Run with: npx petstore-mock exec -- python3 -m unittest discover --start-directory examples/python"""

import unittest

from petstore_client import PetstoreClient
from petstore_mock import Sandbox


class Orders(unittest.TestCase):
    def setUp(self):
        self.mock = Sandbox()
        self.client = PetstoreClient(self.mock.url, self.mock.key, self.mock.tls)

    def test_cancels_a_pending_order(self):
        self.assertEqual(self.client.cancel(1), "cancelled")
        self.assertEqual(self.mock.order(1)["status"], "cancelled")

    def test_reports_that_an_order_has_shipped(self):
        self.mock.ship(1)
        self.assertEqual(self.client.cancel(1), "shipped")
        self.assertEqual(self.mock.count(operation="cancelOrder", status=409), 1)

    def test_sends_one_request_for_each_cancel(self):
        self.client.cancel(1)
        self.client.cancel(3)
        self.assertEqual(self.mock.count(operation="cancelOrder"), 2)

    def test_fails_loudly_during_an_outage(self):
        self.mock.use("outage")
        with self.assertRaisesRegex(RuntimeError, "503"):
            self.client.cancel(1)


if __name__ == "__main__":
    unittest.main()
