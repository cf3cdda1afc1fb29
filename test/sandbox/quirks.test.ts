import { afterEach, expect, test } from 'vitest';
import { act } from '../../src/sandbox/control/server.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';
import { type Quirk, quirkNames } from '../../src/sandbox/quirks.ts';
import { countLedger } from '../../src/sandbox/records/ledger.ts';
import { type Json, openSandbox } from './open-sandbox.ts';

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const state of opened.splice(0)) state.close();
});

/** A company with 30 people on one job, in memory, with these quirks. */
function open(...quirks: Quirk[]) {
  const { state, key } = createSandboxState({ clock: 'stepped', seed: 5, jobs: 1, candidates: 30 });
  opened.push(state);
  act(state, 'setQuirks', { quirks });
  const api = (method: string, path: string, body?: unknown): Json => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return JSON.parse(handle(state, { method, url: `/v1/partner${path}`, headers, ...sent }).body);
  };
  const enrol = () => {
    const { flowId } = api('GET', '/onboarding/flows').data.flows[0];
    const body = { firstName: 'Ada', lastName: 'Byron', email: 'ada@example.com' };
    return api('POST', `/onboarding/flows/${flowId}/candidates`, body).data.onboardingCandidateId as string;
  };
  return { state, api, enrol, act: (name: string, input: object): Json => act(state, name, input) };
}

const idsOf = (page: Json): number[] => page.data.map((one: Json) => one.id);

test('the external status stands flat beside the other fields', () => {
  const { api, enrol, act: does } = open('flat-external-status');
  const path = `/onboarding/candidates/${enrol()}`;
  expect(api('GET', path).data).toMatchObject({ externalStatus: null, employeeId: null });
  api('PATCH', `${path}/external-status`, { status: 'HIRED', employeeId: 'E-1' });
  expect(api('GET', path).data).toMatchObject({ externalStatus: 'HIRED', employeeId: 'E-1', firstName: 'Ada' });
  does('setQuirks', { quirks: [] });
  expect(api('GET', path).data.externalStatus).toMatchObject({ status: 'HIRED', employeeId: 'E-1' });
});

test('whoever completes onboarding awaits a signature for two seconds, and each change is an event', () => {
  const { state, api, enrol, act: does } = open('unknown-status');
  const id = enrol();
  does('finishOnboarding', { onboardingCandidateId: id });
  const status = () => api('GET', `/onboarding/candidates/${id}`).data.overallStatus;
  expect(status()).toBe('awaiting_signature');
  expect(countLedger(state).event).not.toHaveProperty('onboarding.candidate.completed');
  does('advanceClock', { ms: 2000 });
  expect(status()).toBe('completed');
  expect(countLedger(state).event).toMatchObject({ 'onboarding.candidate.completed': 1 });
});

test('who is terminated while awaiting a signature stays terminated', () => {
  const { api, enrol, act: does } = open('unknown-status');
  const id = enrol();
  does('setOnboardingStatus', { onboardingCandidateId: id, overallStatus: 'completed' });
  api('POST', `/onboarding/candidates/${id}/terminate`);
  does('advanceClock', { ms: 2000 });
  expect(api('GET', `/onboarding/candidates/${id}`).data.overallStatus).toBe('terminated');
});

test("people's e-mails come with blanks of three kinds and capitals in the domain, each always alike", () => {
  const { api } = open('blank-emails');
  const emails: string[] = api('GET', '/candidates/list?perPage=40').data.map((one: Json) => one.email);
  for (const kind of [/^ /, /\u200b/, /\u00a0/, /@EXAMPLE\.COM/])
    expect(emails.some((email) => kind.test(email))).toBe(true);
  for (const email of emails) expect(email).not.toBe(email.trim().toLowerCase().replaceAll('\u200b', ''));
  const again = api('GET', '/candidates/list?perPage=40').data.map((one: Json) => one.email);
  expect(again).toEqual(emails);
});

test('createdAt counts seconds where it is a number, and stays text where it is text', () => {
  const { state, api } = open('seconds-created-at');
  const { createdAt } = api('GET', '/jobs').jobs[0];
  expect(createdAt).toBeLessThanOrEqual(state.clock.now() / 1000);
  expect(createdAt).toBeGreaterThan(state.clock.now() / 1000 - 86_400 * 60);
  expect(api('GET', '/candidates/list').data[0].createdAt).toMatch(/^20\d\d-.*Z$/);
});

test('a list that moves repeats rows, shows everybody to who reads on in order, and loses some to who does not', () => {
  const still = idsOf(open().api('GET', '/candidates/list?perPage=40'));
  const { api } = open('moving-lists');
  const page = (number: number) => api('GET', `/candidates/list?perPage=10&pageNumber=${number}`);
  const pages = [page(0), page(1), page(2), page(3)];
  const seen = pages.flatMap(idsOf);
  expect(new Set(seen)).toEqual(new Set(still));
  expect(seen.length).toBeGreaterThan(still.length);
  expect(pages[3].pagination.total).toBeGreaterThan(30);

  const other = open('moving-lists').api;
  const outOfOrder = [2, 1, 0].flatMap((n) => idsOf(other('GET', `/candidates/list?perPage=10&pageNumber=${n}`)));
  expect(new Set(outOfOrder).size).toBeLessThan(still.length);
});

test('a list that nobody read for a while stands still again', () => {
  const { api, act: does } = open('moving-lists');
  const second = () => idsOf(api('GET', '/candidates/list?perPage=10&pageNumber=1'));
  const first = second();
  for (let n = 0; n < 20; n += 1) second();
  expect(second()).not.toEqual(first);
  does('advanceClock', { ms: 31_000 });
  expect(second()).toEqual(first);
});

test('an overstated total is the same at each reading, and the pages after the last row are empty', () => {
  const { api } = open('overstated-total');
  const { pagination } = api('GET', '/candidates/list?perPage=10');
  expect(pagination.total).toBeGreaterThan(30);
  expect(api('GET', '/candidates/list?perPage=10').pagination).toEqual(pagination);
  expect(idsOf(api('GET', '/candidates/list?perPage=10&pageNumber=3'))).toEqual([]);
  const flows = api('GET', '/onboarding/flows?limit=1').data.pagination;
  expect(flows.totalPages).toBe(flows.total);
});

test('quirks are switched on at the start, and what is no quirk is refused by name', async () => {
  await using sandbox = await openSandbox({ quirks: 'all', jobs: 1, candidates: 12 });
  const { quirks }: Json = await (await fetch(`${sandbox.controlUrl}/quirks`)).json();
  expect(quirks).toEqual(quirkNames);
  expect((await sandbox.api('GET', '/candidates/list')).body.pagination.total).toBeGreaterThan(12);
  await expect(openSandbox({ quirks: 'moving-lists,slow' })).rejects.toThrow('--quirks slow is not a quirk');
});
