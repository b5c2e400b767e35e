/** Flags with which Chromium runs unattended and fetches nothing by itself. */
export const CHROMIUM_FLAGS = [
  '--no-sandbox', // in a container, as root
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
