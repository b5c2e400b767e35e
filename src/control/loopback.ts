import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether a name or an address (IPv6 without brackets) always means this machine. `localhost` and
 * its subdomains are never looked up in the DNS (RFC 6761).
 */
export function isLoopbackName(name: string): boolean {
  const family = isIP(name);
  if (family !== 0) return LOOPBACK.check(name, family === 6 ? 'ipv6' : 'ipv4');
  return /^(?:.+\.)?localhost\.?$/i.test(name);
}
