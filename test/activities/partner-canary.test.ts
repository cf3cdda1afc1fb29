import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { noteFailure, toFailure } from '../../activities/create-activities.ts';
import type { ConnectorError } from '../../src/errors.ts';
import { refusalHold } from '../../src/hire/holds.ts';
import { createRootLogger } from '../../src/log.ts';
import { openHold } from '../../src/store/holds.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { errorOf } from '../http/servers.ts';
import { scriptedPartner } from '../partner/client/scripted-partner.ts';
import { freshStore } from '../store/stores.ts';

/** Of somebody whom we did not send, in no form that a pattern would know. */
const CANARY = 'zephyrine';
const UPPER = 'Zephyrine';

const bodies: [how: string, status: number, body: unknown][] = [
  ['a sentence', 400, { error: { code: 'INVALID_REQUEST', message: `${CANARY} quill already works at the bakery` } }],
  ['another field', 409, { error: { code: 'CONFLICT', errorMessage: `taken by ${UPPER}, born 1.2.90` } }],
  ['a flat body', 403, { code: 'PERMISSION_DENIED', message: `${UPPER} may not` }],
  ['texts of details', 400, { error: { code: 'INVALID_REQUEST', message: 'x', details: { email: `of ${CANARY}` } } }],
  ['names of details', 400, { error: { code: 'INVALID_REQUEST', message: 'x', details: { [CANARY]: 'taken' } } }],
  ['a path of details', 400, { error: { code: 'INVALID_REQUEST', message: 'x', details: { [`body.${CANARY}`]: 1 } } }],
  ['numbers of details', 402, { error: { code: 'PAYMENT', message: 'x', details: { [`${CANARY}Credits`]: 5 } } }],
  ['a type and a code', 400, { error: { code: `about ${CANARY}`, type: CANARY, message: CANARY } }],
];

/** The refusal as every place keeps it that is outside the client: Temporal, holds, alarms, logs. */
async function placesOf(error: ConnectorError): Promise<string> {
  const { store } = await freshStore('sqlite');
  await readTenantState(store, 'acme');
  const lines: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
  const log = createRootLogger(sink, 'trace');
  log.error({ err: error }, 'refused');
  const activity = { name: 'enrol', input: { tenantId: 'acme', jobCandidateId: '1' }, attempt: 1 };
  await noteFailure({ store, log }, activity, error);
  const { hold } = refusalHold(error, 'before-employee');
  await openHold(store, { tenantId: 'acme', ...hold });
  const failure = toFailure(error);
  const kept = [
    await store.kysely.selectFrom('holds').selectAll().execute(),
    await store.kysely.selectFrom('alarms').selectAll().execute(),
  ];
  expect(kept.map((rows) => rows.length)).toEqual([1, 1]);
  return JSON.stringify([kept, lines, failure, failure.message, error.stack, error.details]);
}

test.each(bodies)('what the partner says of a person in %s leaves the client nowhere', async (_how, status, json) => {
  const { partner } = await scriptedPartner(() => ({ status, json }));
  const body = { firstName: 'Ada', lastName: 'Li', email: 'ada@example.com' };
  const error = await errorOf<ConnectorError>(partner.onboarding.enrol({ params: { flowId: '1234' }, body }));
  const kept = await placesOf(error);
  expect(kept.toLowerCase()).not.toContain(CANARY);
  // What is needed to find the call again stays.
  for (const fact of [error.code, error.requestId ?? 'none', 'POST /onboarding/flows/:flowId/candidates', 'flow 1234'])
    expect(kept).toContain(fact);
});

test('fields of the call that the partner names are kept', async () => {
  const details = { email: 'taken', 'body.lastName': 'x', flowId: 'is INACTIVE', 'candidates[3].email': 'x' };
  const json = { error: { code: 'INVALID_REQUEST', message: 'no', details } };
  const { partner } = await scriptedPartner(() => ({ status: 400, json }));
  const body = { firstName: 'Ada', lastName: 'Li', email: 'ada@example.com' };
  const error = await errorOf<ConnectorError>(partner.onboarding.enrol({ params: { flowId: '1234' }, body }));
  expect(error.details).toEqual({ fields: ['email', 'lastName', 'flowId'] });
  expect(error.message).toMatch(/: the data was refused \(email, lastName, flowId\)\.$/);
});
