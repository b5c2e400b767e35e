/**
 * Numbers for all that is drawn from a seed, unique within a group (groups mix the seed with
 * different things). Changing a number changes what every seed produces.
 */
export const STREAMS = {
  /** Fields of a generated record, drawn by its position. */
  ofPosition: {
    animalStatus: 16,
    animalName: 17,
    animalNameList: 18,
    animalCategory: 19,
    stock: 20,
    orderStatus: 21,
    orderSparse: 22,
    orderPet: 23,
    orderQuantity: 24,
    orderHasShipDate: 25,
    orderShipDay: 26,
    orderShipSecond: 27,
    orderComplete: 28,
    orderIdAlone: 29,
  },
  /** Draws for an id, or for a count of records. */
  ofId: { assignedHigh: 29, assignedLow: 30, shuffledRank: 95 },
  /** Draws for a call that a rule matches, from the rule's own draw for the call. */
  ofMatch: { chance: 96, delay: 97, delayAngle: 98 },
} as const;

/** A random integer in [0, 2^32) that depends only on its arguments; mixed as in MurmurHash3. */
export function randomInteger(seed: number, record: number, field: number): number {
  return mix(mix(mix(seed | 0) ^ record) ^ Math.imul(field + 1, 0x9e3779b9)) >>> 0;
}

export function randomForId(seed: number, id: bigint, stream: keyof typeof STREAMS.ofId): number {
  const low = Number(BigInt.asIntN(32, id));
  const high = Number(BigInt.asIntN(32, id >> 32n));
  return randomInteger(mix(seed ^ mix(high)), low, STREAMS.ofId[stream]);
}

function mix(value: number): number {
  let hash = value + 0x9e3779b9;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
