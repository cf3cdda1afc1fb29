import pino from 'pino';
import { expect, test } from 'vitest';
import { noteFailure, noteSuccess } from '../../activities/create-activities.ts';
import { ConnectorError, type ErrorAction } from '../../src/errors.ts';
import { listAlarms } from '../../src/store/alarms.ts';
import { freshStore } from '../store/stores.ts';

const input = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const first = { name: 'openHire', input, attempt: 1 };

async function watched() {
  const { store } = await freshStore('sqlite');
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const later = (ms: number) =>
    store.kysely
      .updateTable('alarms')
      .set((eb) => ({ since: eb('since', '-', ms) }))
      .execute();
  return { deps: { store, log }, lines, later, alarms: () => listAlarms(store) };
}

function failing(action: ErrorAction): ConnectorError {
  return new ConnectorError({ code: 'SCRIPTED', action, message: 'as scripted' });
}

test('a refusal that no hold answers is an alarm at once, logged once, and over with the first success', async () => {
  const { deps, lines, alarms } = await watched();
  await noteFailure(deps, first, failing('reject'));
  await noteFailure(deps, { ...first, attempt: 2 }, failing('reject'));
  expect(await alarms()).toMatchObject([
    { tenant_id: 'acme', subject: 'openHire of job candidate 5012', reason: 'SCRIPTED', times: 2 },
  ]);
  await noteSuccess(deps, { ...first, attempt: 3 });
  expect(await alarms()).toEqual([]);
  expect(lines).toEqual(['alarm raised', 'alarm over']);
});

test.each(['retry', 'unknown'] as const)('a failure (%s) is an alarm once it has lasted 15 minutes', async (action) => {
  const { deps, later, alarms } = await watched();
  await noteFailure(deps, first, failing(action));
  await later(899_000);
  await noteFailure(deps, first, failing(action));
  expect(await alarms()).toEqual([]);
  await later(2_000);
  await noteFailure(deps, first, failing(action));
  expect(await alarms()).toMatchObject([{ reason: 'SCRIPTED' }]);
});

test('what a thrown error says is not shown: it may quote a record', async () => {
  const { deps, later, alarms } = await watched();
  await noteFailure(deps, first, new TypeError('ada@acme.example'));
  await later(900_000);
  await noteFailure(deps, first, new TypeError('ada@acme.example'));
  expect(await alarms()).toMatchObject([{ reason: 'TypeError', message: expect.not.stringContaining('ada') }]);
});

test('waits for the rate limit are no trouble, however long', async () => {
  const { deps, later, alarms } = await watched();
  await noteFailure(deps, first, failing('throttle'));
  await later(86_400_000);
  await noteFailure(deps, first, failing('throttle'));
  expect(await alarms()).toEqual([]);
});

test('each hire, stream and tenant has its own', async () => {
  const { deps, alarms } = await watched();
  await noteFailure(deps, first, failing('reject'));
  await noteFailure(
    deps,
    { name: 'syncPages', input: { tenantId: 'acme', stream: 'jobs' }, attempt: 1 },
    failing('reject'),
  );
  await noteFailure(deps, { name: 'reconcile', input: { tenantId: 'acme' }, attempt: 1 }, failing('reject'));
  expect((await alarms()).map(({ subject }) => subject).toSorted()).toEqual([
    'openHire of job candidate 5012',
    'reconcile',
    'syncPages of jobs',
  ]);
});
