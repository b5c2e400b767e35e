// A service worker that answers a page's calls to any host. It has no import(), so bundle it as one
// file: npm run bundle-worker
import { createMock } from 'petstore-mock/fetch';

const mock = createMock({ scenarios: ['shipped-orders'] });

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (/\/v1\/|\/__mock/.test(event.request.url)) event.respondWith(mock.fetch(event.request));
});
