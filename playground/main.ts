import '../src/features/dashboard/dashboard.css';
import { host } from '../src/features/dashboard/state/host.ts';
import { createMock } from '../src/fetch.ts';

const { url, fetch } = createMock();
Object.assign(host, { origin: new URL(url).origin, path: '/__mock/', hasPages: false, fetch });
// Only now: its state reads the host as it is loaded.
await import('../src/features/dashboard/dashboard.tsx');
