import type { ControlCall } from '../../core/control/endpoint.ts';
import { type HAR_FILTER, readOrdered } from '../../core/control/journal/journal-endpoints.ts';
import type { ValueOf } from '../../core/shape/shapes.ts';
import { writeHar } from '../../terminal/har.ts';

export const HAR_HANDLERS = {
  async exportRequests(call: ControlCall<unknown, ValueOf<typeof HAR_FILTER>>) {
    const { sandbox, origin, parts } = call;
    const { all, ...query } = call.query;
    const { persistence, sandboxes, version } = parts;
    const names = all ? [...(await persistence.unused()).keys()] : [];
    const selected = all ? names.flatMap((name) => sandboxes.peek(name) ?? []) : [sandbox];
    const exported = selected.map(async (one) => {
      const { exchanges } = await readOrdered(persistence.journal(one), query);
      return exchanges.map((exchange) => ({ sandbox: one.name, exchange }));
    });
    const ran = (await Promise.all(exported)).flat();
    return { status: 200, content: writeHar(version, origin, ran) };
  },
};
