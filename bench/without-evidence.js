// What stands in the place of coverage and findings in a build without them.

export class Coverage {
  record() {}
  at() {
    return { count: 0 };
  }
  clear() {}
}

export class Findings {
  kept = [];
  counts = new Map();
  record() {}
  clear() {}
}
