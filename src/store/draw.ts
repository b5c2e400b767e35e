/**
 * Draws an integer from 0 to 2^32-1 that depends only on the arguments, and so never on earlier draws.
 * Mixes them like the 32-bit finalizer of MurmurHash3.
 */
export function draw(seed: number, record: number, field: number): number {
  return mix(mix(mix(seed | 0) ^ record) ^ Math.imul(field + 1, 0x9e3779b9)) >>> 0;
}

/** `draw` for a record with an int64 id. */
export function drawForId(seed: number, id: bigint, field: number): number {
  const low = Number(BigInt.asIntN(32, id));
  const high = Number(BigInt.asIntN(32, id >> 32n));
  return draw(mix(seed ^ mix(high)), low, field);
}

function mix(value: number): number {
  let hash = value + 0x9e3779b9;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
