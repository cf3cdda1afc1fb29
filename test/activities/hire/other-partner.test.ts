import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { employ } from '../../../activities/hire/go-on.ts';
import { evaluateMapping } from '../../../src/mapping/evaluate.ts';
import { readHireSources } from '../../../src/operator/plan-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { JobCandidate } from '../../../src/partner/contract/job-candidates.ts';
import { errorOf, serve } from '../../http/servers.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

const WRITE_BACK = 'writeBack: { customField: "1" }\n';

type Json = Record<string, unknown>;

interface Habit {
  asked?: (url: URL) => void;
  answered?: (body: Json) => Json;
}

/** The sandbox as another partner may be within the specification: what concerns job candidates is changed. */
function partnerWith({ asked = () => undefined, answered = (body) => body }: Habit) {
  return async (sandboxUrl: string): Promise<string> => {
    const origin = await serve(async (request, response) => {
      const url = new URL(request.url ?? '', sandboxUrl);
      const isOfJobCandidates = url.pathname.includes('/job-candidates/');
      if (isOfJobCandidates) asked(url);
      const answer = await fetch(url, await sentOn(request));
      const text = await answer.text();
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(isOfJobCandidates && answer.ok ? JSON.stringify(answered(JSON.parse(text) as Json)) : text);
    });
    return `${origin}${new URL(sandboxUrl).pathname}`;
  };
}

async function sentOn(request: IncomingMessage): Promise<RequestInit> {
  const { method = 'GET', headers } = request;
  const body = method === 'GET' ? {} : { body: new Uint8Array(await buffer(request)) };
  const { authorization = '', 'content-type': type = 'application/json' } = headers;
  return { method, headers: { authorization, 'content-type': type }, ...body };
}

/** Calls for custom field values that one hire makes at this partner. */
async function valuesAskedFor(habit: Habit, people = 1) {
  const fleet = await fleetAtSandbox({ skip: true, between: partnerWith(habit) });
  await fleet.apply('acme', WRITE_BACK);
  await fleet.reconcile('acme');
  const outcomes: unknown[] = [];
  for (let nth = 0; nth < people; nth += 1) {
    const jobCandidateId = await fleet.hire();
    await fleet.open('acme', jobCandidateId);
    outcomes.push(await employ(fleet.deps, { tenantId: 'acme', jobCandidateId, period: 1, seenAtOpening: true }));
  }
  const asked = await fleet.sandbox.control.ledger({ kind: 'request', name: 'customFieldValues.list' });
  return { outcomes, asked: asked.length };
}

const hideFields = (body: Json): Json => ({
  ...body,
  data: (body['data'] as Json[]).map(({ customFields: _hidden, ...record }) => record),
});

test('a start date that no record shows is read from the values of custom fields', async () => {
  const { outcomes, asked } = await valuesAskedFor({ answered: hideFields });
  expect(outcomes).toMatchObject([{ verdict: 'employee' }]);
  expect(asked).toBe(1);
});

test('a field that a mapping names by its label is found in what no record shows', async () => {
  const { deps, store, apply, hire } = await fleetAtSandbox({
    skip: true,
    between: partnerWith({ answered: hideFields }),
  });
  await apply('acme', WRITE_BACK);
  const connection = await deps.connections.of('acme');
  const body = { jobCandidateIds: [await hire()] };
  const { items } = await connection.partner.readAll(contract.jobCandidates.bulkFetch, { body });
  const { sources } = await readHireSources(store, connection, null, items[0] as JobCandidate);
  const { fields, problems } = evaluateMapping(connection.mapping, sources);
  expect(problems).toEqual([]);
  expect(fields).toHaveProperty('startDate');
});

test('values that the records show are asked for by nobody, even where one person has none', async () => {
  let read = 0;
  const answered = (body: Json): Json => {
    const isOfOne = Array.isArray(body['data']) && !('pagination' in body);
    read += isOfOne ? 1 : 0;
    return isOfOne && read > 1 ? hideFields(body) : body;
  };
  const { outcomes, asked } = await valuesAskedFor({ answered }, 2);
  expect(outcomes).toMatchObject([{ verdict: 'employee' }, { verdict: 'hold', hold: { code: 'MAPPING_INCOMPLETE' } }]);
  expect(asked).toBe(0);
});

test('people listed as jobCandidates, each with a jobCandidateId, belong to the baseline', async () => {
  const answered = ({ data, ...body }: Json): Json => {
    const isListed = Array.isArray(data) && data.some((one: Json) => 'jobCandidateDetails' in one);
    if (!isListed) return { ...body, data };
    const jobCandidates = (data as { jobCandidateDetails: Json }[]).map(({ jobCandidateDetails, ...record }) => {
      const { id: jobCandidateId, ...details } = jobCandidateDetails;
      return { ...record, jobCandidateDetails: { jobCandidateId, ...details } };
    });
    return { ...body, data: { jobCandidates } };
  };
  const fleet = await fleetAtSandbox({ skip: true, hired: 3, between: partnerWith({ answered }) });
  await fleet.apply('acme', WRITE_BACK);
  expect(await fleet.reconcile('acme')).toMatchObject({ people: 3, unreadable: 0 });
});

test.each([3, 150])('%d people hired before are not passed over where pages are counted from 0', async (hired) => {
  const asked = ({ searchParams }: URL): void => {
    const page = searchParams.get('pageNumber');
    if (page !== null) searchParams.set('pageNumber', String(Number(page) + 1));
  };
  const fleet = await fleetAtSandbox({ skip: true, hired, between: partnerWith({ asked }) });
  await fleet.apply('acme', WRITE_BACK);
  expect(await errorOf(fleet.reconcile('acme'))).toMatchObject({ code: 'PAGES_COUNTED_OTHERWISE', action: 'reject' });
  await fleet.apply('acme', WRITE_BACK, { overrides: 'firstPages: { jobCandidates.listByStageType: 0 }' });
  expect(await fleet.reconcile('acme')).toMatchObject({ people: hired });
});
