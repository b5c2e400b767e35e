import { expect, test } from 'vitest';
import {
  type Choices,
  chooseOptions,
  isAssumptionId,
} from '../../src/contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { planCheck } from '../../src/deployment/check-plan.ts';
import { checkReport, isBroken } from '../../src/deployment/check-report.ts';
import { SAFE } from '../../src/deployment/deployment-client.ts';
import { runCheck } from '../../src/deployment/run-check.ts';
import type { Seen } from '../../src/deployment/seen.ts';
import { checked, deploy, WHOLE_CHECK } from '../helpers/checked-deployment.ts';

function settledIn(seen: Seen): Record<string, string> {
  const { assumptions } = checkReport(seen, []);
  return Object.fromEntries(
    assumptions.flatMap(({ id, option }) => (option ? [[id, option]] : [])),
  );
}

/** Another option than the default of many assumptions at once. */
const OTHERS: Partial<Choices> = {
  'invalid-input': '422',
  'limit-out-of-range': 'clamp',
  'status-filter': 'empty',
  'name-limits': '255',
  'id-on-create': 'ignore',
  'unknown-query': 'reject',
  'negative-quantity': 'accept',
  'body-limit': '10kb',
  'check-order': 'input-first',
  'unknown-pet': '400',
  'pets-order': 'newest',
  'pets-paging': 'cursor',
  'created-status': 'available',
  'assigned-ids': 'int64',
  'inventory-missing-entry': 'create',
  'inventory-on-create': 'none',
  'inventory-status': 'follows-quantity',
  'cancelled-orders': 'removed',
  'cancel-again': '404',
  'order-shipping': 'at-ship-date',
  'cancel-restocks': 'yes',
  'error-codes': 'numeric',
  'rate-limit': '10/s',
  'absent-optionals': 'null',
  cors: 'absent',
};

test('a check finds the options of a deployment and leaves open what it cannot see', async () => {
  const seen = await checked(OTHERS);
  const report = checkReport(seen, []);
  const open = report.assumptions.filter(({ verdict }) => verdict === 'open');
  expect(open.map(({ id }) => id)).toEqual(['after-sunset']);
  const { 'after-sunset': _unseen, ...truth } = chooseOptions(OTHERS);
  expect(settledIn(seen)).toEqual(truth);
  expect(report.replies.map(({ verdict }) => verdict)).toEqual(
    DOCUMENTED_REPLIES.map(() => 'as-documented'),
  );
  expect(isBroken(report)).toBe(false);
});

test('without --writes a check sends only what the plan says, and only GET and OPTIONS', async () => {
  const deployment = await deploy({});
  const options = { ...WHOLE_CHECK, writes: false };
  const sent: string[] = [];
  const { client } = deployment;
  const spy = {
    rest: (milliseconds: number) => client.rest(milliseconds),
    send: (...[request, patient]: Parameters<typeof client.send>) => {
      sent.push(`${request.method} ${request.path}`);
      return client.send(request, patient);
    },
  };
  const seen = await runCheck(spy, options);
  deployment.close();
  expect(sent.every((line) => SAFE.test(line.split(' ')[0]!))).toBe(true);
  const planned = planCheck(options).flatMap(({ name, times }) =>
    seen.get(name) === undefined ? [] : Array.from({ length: times }, () => name),
  );
  expect(sent).toHaveLength(planned.length);
  expect(Object.keys(settledIn(seen)).filter(isAssumptionId).length).toBeGreaterThan(15);
});
