/** Invalid scenarios in YAML with the problems that the reader reports. FILE stands for the path. */
export const BROKEN: readonly (readonly [name: string, text: string, ...problems: string[]])[] = [
  [
    'a misspelt operation',
    'rules:\n  - { on: canceOrder, reply: { status: 409 } }',
    'FILE:2:11: $.rules[0].on: expected listPets, createPet, getPet, listInventory, updateInventory, listOrders, cancelOrder or "*", or an array of operations, found "canceOrder" (did you mean cancelOrder?)',
  ],
  [
    'a misspelt part',
    'desciption: Mine.',
    'FILE:1:1: $.desciption: expected $schema, description, extends, fixture, generate, state, keys, assume, clock or rules, found "desciption" (did you mean description?)',
  ],
  [
    'an option of another assumption',
    'assume: { cancel-again: 405, rate-limit: 10/h }',
    'FILE:1:25: $.assume["cancel-again"]: expected 409, 404 or 204, found 405',
    'FILE:1:42: $.assume["rate-limit"]: expected none, or a rate such as 10/s or 600/m, found "10/h" (did you mean 10/s?)',
  ],
  [
    'an id in quotes',
    'state: { orders: { remove: [1, "2"] } }',
    'FILE:1:32: $.state.orders.remove[1]: expected an integer from -2^63 to 2^63-1, found "2"',
  ],
  [
    'calls with a comma, without quotes in braces',
    'rules:\n  - { on: getPet, delay: 1, calls: 2,4 }',
    'FILE:2:38: $.rules[0]["4"]: expected on, where, calls, chance, delay, reply, fault, hold or apply, found "4" (inside braces, quote a value that contains a comma)',
  ],
  [
    'a header value with a line break',
    'rules:\n  - { on: getPet, reply: { status: 200, headers: { X-A: "a\\r\\nX-B: b" } } }',
    'FILE:2:57: $.rules[0].reply.headers["X-A"]: expected a header value: a string without line breaks, or a number, or an array of those, found "a\\r\\nX-B: b"',
  ],
  [
    'a key with a blank, and one that expires after a year of unknown length',
    'keys: { invalid: [a b], expires: { demo-key: P1Y } }',
    'FILE:1:19: $.keys.invalid[0]: expected a key of visible ASCII characters, found "a b"',
    'FILE:1:46: $.keys.expires["demo-key"]: expected a duration after the start such as "PT10M", or an instant such as "2030-12-06T00:00:00Z", found "P1Y"',
  ],
  ['an empty file', '', 'FILE:1:1: $: expected an object with the parts of a scenario, found null'],
  [
    'names that every JavaScript object inherits',
    'constructor: 1\n__proto__: { rules: [] }',
    'FILE:1:1: $.constructor: expected $schema, description, extends, fixture, generate, state, keys, assume, clock or rules, found "constructor"',
    'FILE:2:1: $.__proto__: expected $schema, description, extends, fixture, generate, state, keys, assume, clock or rules, found "__proto__"',
  ],
];

/** Scenarios that only the reader rejects: the schema compares no values. */
export const BROKEN_FOR_THE_READER: typeof BROKEN = [
  [
    'a rule that does nothing',
    'rules:\n  - { on: getPet }',
    'FILE:2:5: $.rules[0]: expected `reply`, `fault`, `delay` or `hold`, found a rule that does nothing',
  ],
  [
    '`apply` without anything to send',
    'rules:\n  - { on: getPet, delay: 5, apply: true }',
    'FILE:2:29: $.rules[0].apply: expected a `reply` or a `fault` beside it, instead of the discarded reply, found neither',
  ],
  [
    'two stores to start from',
    'fixture: default\ngenerate: { animals: 1 }',
    'FILE:2:1: $.generate: expected fixture or generate, to start from one store, found both',
  ],
  [
    'an input that none of the operations has',
    'rules:\n  - { on: getPet, where: { orderId: 1 }, fault: reset }',
    'FILE:2:28: $.rules[0].where.orderId: expected an input of getPet, which has petId, found "orderId"',
  ],
  [
    'a range of calls with the higher number first',
    'rules:\n  - { on: getPet, delay: 1, calls: 4-2 }',
    'FILE:2:36: $.rules[0].calls: expected the lower number first, found "4-2"',
  ],
  [
    'a Content-Length',
    'rules:\n  - { on: getPet, reply: { status: 200, headers: { Content-Length: 5 } } }',
    'FILE:2:52: $.rules[0].reply.headers["Content-Length"]: expected a header that does not frame the message; use a `fault` to break that, found "Content-Length"',
  ],
];

/** A scenario that uses every feature. */
export const WHOLE = `
$schema: scenario.schema.json
description: Everything at once.
extends: slow
generate: { animals: 5, orders: 0 }
state:
  animals: { remove: all, set: [{ id: -9223372036854775808, name: Rex, categoryId: 1 }] }
  inventory: { remove: [1, 9007199254740993] }
  orders:
    set: [{ id: 9007199254740993, status: shipped }]
    each:
      - { where: { id: [1, 2], status: [pending, null], petId: null }, petId: 1, quantity: null }
      - { complete: false }
keys:
  valid: [a-key]
  readOnly: []
  invalid: [demo-key]
  expires: { a-key: PT1M30S, other-key: "2030-12-06T00:00:00+01:00" }
assume:
  cancel-again: 404
  absent-optionals: null
  name-limits: "255"
  rate-limit: 3/s
clock: { now: 2030-12-06T00:00:00Z, frozen: true }
rules:
  - on: "*"
    where: { petId: [9007199254740993, null], headers: { X-Client: a }, key: [a-key, b-key] }
    calls: 1, 3-4, 6-
    chance: 0.5
    delay: { median: 120, sigma: 0.4 }
    reply:
      status: 409
      headers: { Retry-After: 1, X-Two: [a, b] }
      body: { id: 9223372036854775807, list: [1.5, null, true, "x"], "__proto__": 1 }
  - { on: [getPet, listPets], calls: 2, delay: 5, fault: slow-body }
  - { on: cancelOrder, calls: [1, 3], delay: { min: 1, max: 1 }, apply: true, fault: { kind: slow-body, over: 7 } }
  - { on: getPet, reply: { status: 200, headers: { content-type: text/plain }, body: Hello } }
  - { on: getPet, reply: { status: 200, headers: { content-type: text/html }, body: { a: 1 } } }
  - { on: getPet, reply: { status: 200, headers: { Content-Type: application/hal+json }, body: Hello } }
  - { on: getPet, reply: { status: 200, body: Hello } }
  - { on: getPet, reply: { status: 200, body: null } }
  - { on: getPet, reply: { status: 409, empty: true } }
  - { on: getPet, reply: { status: 404 } }
`;
