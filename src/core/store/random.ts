/** In [0, 2^32); a function of its arguments alone, mixed like the 32-bit finalizer of MurmurHash3. */
export function randomInteger(seed: number, record: number, field: number): number {
  return mix(mix(mix(seed | 0) ^ record) ^ Math.imul(field + 1, 0x9e3779b9)) >>> 0;
}

export function randomForId(seed: number, id: bigint, field: number): number {
  const low = Number(BigInt.asIntN(32, id));
  const high = Number(BigInt.asIntN(32, id >> 32n));
  return randomInteger(mix(seed ^ mix(high)), low, field);
}

function mix(value: number): number {
  let hash = value + 0x9e3779b9;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
