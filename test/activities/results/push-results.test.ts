import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { clearHints, readHints } from '../../../src/store/hints.ts';
import { sendInvitations } from '../../../src/store/invitations.ts';
import { markPerson } from '../../../src/store/person-marks.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { finishStep } from '../../sandbox/open-flow.ts';
import { REQUEST_FAULTS } from '../killable.ts';
import { openPushWorld } from '../push-world.ts';

const key = { tenantId: 'acme', stream: 'results' };
const LAG_MS = 60_000;
const WRITE = 'customFieldValues.upsertBulk';
const LIST = 'assessments.listCandidates';

/** Two interviews and a flow, whose results go into a number, a text and another text. */
async function resultsWorld({ gone }: { gone?: string } = {}) {
  const facts = { one: '', other: '', flow: 0, score: '', bucket: '', status: '' };
  const world = await openPushWorld('results', { candidates: 240 }, async ({ control, partner }) => {
    const assessment = async () =>
      String(
        ((await control.act('createAssessment', { title: 'Interview' })) as { assessmentId: string }).assessmentId,
      );
    const field = async (fieldLabel: string, fieldType: 'number' | 'text') =>
      String((await partner.customFields.create({ body: { entityType: 'candidate', fieldLabel, fieldType } })).data.id);
    [facts.one, facts.other] = [await assessment(), await assessment()];
    const body = { flowName: 'Screening', steps: [{ assessmentId: await assessment(), passThreshold: 50 }] };
    facts.flow = Number((await partner.assessmentFlows.create({ body })).data.id);
    facts.score = await field('Interview', 'number');
    facts.bucket = await field('Fit', 'text');
    facts.status = await field('Screening', 'text');
    const results = [
      ...(gone === undefined ? [] : [{ assessment: gone, take: 'score', customField: facts.score }]),
      { assessment: facts.one, take: 'score', customField: facts.score },
      { assessment: facts.one, take: 'bucket', customField: facts.bucket },
      { flow: facts.flow, take: 'status', customField: facts.status },
    ];
    return { results, streams: { results: {}, consents: {} } } as unknown as Partial<Tenant>;
  });
  const { sandbox } = world;
  const query = { stageType: 'APPLIED' } as const;
  const { items } = await sandbox.partner.readAll(contract.jobCandidates.listByStageType, { query });
  const people = items.map(({ jobCandidateDetails: { id, candidateId } }) => ({ id: Number(id), candidateId }));
  const calls = async (name: string) => (await sandbox.control.counts({ kind: 'request', name })).request?.[name] ?? 0;
  const [first, second, third] = people;
  if (first === undefined || second === undefined || third === undefined) throw new Error('too few people');
  return {
    ...world,
    ...facts,
    people,
    trio: [first, second, third] as const,
    calls,
    async interview({ id: jobCandidateId }: { id: number }, score?: number, assessmentId = facts.one) {
      await sandbox.control.act('inviteToInterview', { assessmentId, jobCandidateId });
      const how = score === undefined ? { scored: false } : { score };
      const taken = await sandbox.control.act('takeInterview', { assessmentId, jobCandidateId, ...how });
      await sandbox.later();
      return String((taken as { submissionId: unknown }).submissionId);
    },
    /** What the partner's own API shows of a person's fields. */
    async shown({ candidateId }: { candidateId: string }) {
      const own = { entityType: 'candidate' as const, entityId: String(candidateId) };
      const values = (await sandbox.partner.readAll(contract.customFieldValues.list, { query: own })).items;
      const of = (field: string) => values.find(({ customFieldId }) => String(customFieldId) === field)?.value;
      const score = of(facts.score);
      return [score === undefined ? undefined : Number(score), of(facts.status)];
    },
    set: ({ candidateId }: { candidateId: string }, value: number | string, customFieldId = facts.score) =>
      sandbox.partner.customFieldValues.upsert({
        body: { entityType: 'candidate', entityId: String(candidateId), customFieldId, value },
      }),
  };
}

test('results reach the fields of the candidate, and a second pass writes nothing', async () => {
  const { run, once, interview, shown, calls, hint, sandbox, store, trio, flow, one, other } = await resultsWorld();
  const [first, second, third] = trio;
  await interview(first, 71);
  const unscored = await interview(second);
  await interview(third, 40, other);
  const body = { jobCandidateId: third.id };
  const { data } = await sandbox.partner.assessmentFlows.assign({ params: { id: flow }, body });
  await finishStep(sandbox.control, Number(data.flowCandidateId), 90);
  await sandbox.later();
  expect(await once('one')).toMatchObject({ state: 'done', counts: { updated: 2 } });
  expect(await Promise.all(trio.map(shown))).toEqual([
    [71, undefined],
    [undefined, undefined],
    [undefined, 'COMPLETED'],
  ]);
  expect(await calls(WRITE)).toBe(1);
  expect(await once('two')).toMatchObject({ state: 'done', counts: { updated: 0, unchanged: 2 } });
  expect(await calls(WRITE)).toBe(1);

  // A webhook has the list of its assessment read, and no other; twice is once.
  await sandbox.control.act('scoreInterview', { submissionId: unscored, score: 55 });
  const lists = await calls(LIST);
  await hint([one, one]);
  expect(await run('told', { hinted: true })).toMatchObject({ counts: { updated: 1, unchanged: 1 } });
  expect(await calls(LIST)).toBe(lists + 1);
  expect(await shown(second)).toEqual([55, undefined]);
  // One that is of no rule has none read.
  await hint([other]);
  expect(await run('none', { hinted: true })).toMatchObject({ state: 'done', counts: { updated: 0, unchanged: 0 } });
  expect(await calls(LIST)).toBe(lists + 1);
  expect(await readHints(store, 'acme', 'results')).toEqual([]);
});

test('a score that the partner shows some time after its webhook is written soon after', async () => {
  const { once, interview, shown, hint, sandbox, store, trio, one, clock, lag } = await resultsWorld();
  const submissionId = await interview(trio[0]);
  lag(LAG_MS);
  await hint([one]);
  clock.now += 1_000;
  expect(await once('told', { hinted: true })).toMatchObject({ counts: { updated: 0 }, againInMs: LAG_MS });
  // Only now does the partner show what the webhook told of.
  await sandbox.control.act('scoreInterview', { submissionId, score: 55 });
  await sandbox.later();
  clock.now += LAG_MS;
  const step = await once('told/1', { hinted: true });
  expect(step).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect(step).not.toHaveProperty('againInMs');
  expect(await shown(trio[0])).toEqual([55, undefined]);
  expect(await readHints(store, 'acme', 'results')).toEqual([]);
});

test('a deleted assessment is named, and the results of the other rules are written', async () => {
  const { once, interview, shown, sandbox, store, trio, flow } = await resultsWorld({ gone: 'deleted' });
  const [first, second] = trio;
  await interview(first, 71);
  await sandbox.partner.assessmentFlows.assign({ params: { id: flow }, body: { jobCandidateId: second.id } });
  expect(await once('one')).toMatchObject({ state: 'partial', counts: { updated: 2, quarantined: 1 } });
  expect(await shown(first)).toEqual([71, undefined]);
  const [told] = await readQuarantine(store, key);
  expect(told).toMatchObject({
    record_key: 'assessment deleted',
    reason: expect.stringContaining('no such assessment'),
  });
});

test('a person whose values are always answered with an error keeps no other from their results', async () => {
  const { run, interview, shown, trio, sandbox } = await resultsWorld();
  for (const [n, person] of trio.entries()) await interview(person, 50 + n);
  const bad = `"${trio[0].candidateId}"`;
  await sandbox.control.act('setFaults', { faults: [{ kind: 'server-error', on: WRITE, holding: bad }] });
  await expect(run('one', { tries: 2 })).rejects.toThrow('came to no end');
  expect((await Promise.all(trio.map(shown))).map(([score]) => score)).toEqual([undefined, 51, 52]);
  await sandbox.control.act('setFaults', { faults: [] });
  expect(await run('one')).toMatchObject({ state: 'done', counts: { updated: 1, unchanged: 2 } });
  expect(await shown(trio[0])).toEqual([50, undefined]);
});

test.each([
  ['once', 1, 3, { updated: 3 }],
  ['each time', 9, 6, { updated: 2, quarantined: 1 }],
])(
  'a value that a bulk answer passes over %s is sent by itself, and told while it is',
  async (_, most, writes, counts) => {
    const { run, interview, shown, calls, trio, store, sandbox, partnerSays } = await resultsWorld();
    for (const [n, person] of trio.entries()) await interview(person, 50 + n);
    const [{ candidateId, id }] = trio;
    let passed = 0;
    partnerSays.change = async (operation, answer) => {
      if (operation !== WRITE || passed === most) return;
      const { body } = answer as { body: { data: { entityId: unknown }[]; errors?: object[] } };
      const data = body.data.filter(({ entityId }) => String(entityId) !== String(candidateId));
      if (data.length === body.data.length) return;
      passed += 1;
      const params = { entityType: 'candidate' as const, entityId: String(candidateId) };
      await sandbox.partner.customFieldValues.removeByEntity({ params });
      Object.assign(body, { data, ...(data.length > 0 ? {} : { errors: [{ index: 0 }] }) });
    };
    expect(await run('one')).toMatchObject({ state: most === 1 ? 'done' : 'partial', counts });
    expect((await Promise.all(trio.map(shown))).map(([score]) => score)).toEqual([most === 1 ? 50 : undefined, 51, 52]);
    expect(await calls(WRITE)).toBe(writes);
    const told = (await readQuarantine(store, key)).map(({ record_key, reason }) => [record_key, reason]);
    const reason = expect.stringContaining('VALUE_NOT_LISTED') as string;
    expect(told).toEqual(most === 1 ? [] : [[String(id), reason]]);
  },
);

test('an assessment whose list is always answered with an error keeps back no result of another rule', async () => {
  const { run, interview, shown, trio, sandbox, flow, one } = await resultsWorld();
  await interview(trio[0], 71);
  await sandbox.partner.assessmentFlows.assign({ params: { id: flow }, body: { jobCandidateId: trio[1].id } });
  await sandbox.control.act('setFaults', { faults: [{ kind: 'server-error', on: LIST, holding: one }] });
  await expect(run('one', { tries: 2 })).rejects.toThrow('came to no end');
  expect(await shown(trio[1])).toEqual([undefined, 'NOT_STARTED']);
  await sandbox.control.act('setFaults', { faults: [] });
  await run('one');
  expect(await shown(trio[0])).toEqual([71, undefined]);
});

test('of two results without a time the same one counts, in whatever order they are listed', async () => {
  const { run, shown, calls, sandbox, trio, flow, partnerSays } = await resultsWorld();
  const body = { jobCandidateId: trio[0].id };
  await sandbox.partner.assessmentFlows.assign({ params: { id: flow }, body });
  let isReversed = false;
  partnerSays.change = (operation, answer) => {
    if (operation !== 'assessmentFlows.listCandidates') return;
    const { body: shownBody } = answer as { body: { data: Record<string, unknown>[] } };
    const [entry] = shownBody.data;
    const later = { ...entry, flowCandidateId: Number(entry?.['flowCandidateId']) + 9_000, status: 'COMPLETED' };
    shownBody.data = isReversed ? [later, entry ?? {}] : [entry ?? {}, later];
  };
  await run('one');
  isReversed = true;
  await run('two');
  expect([await calls(WRITE), (await shown(trio[0]))[1]]).toEqual([1, 'COMPLETED']);
});

test('whatever becomes of a request and wherever the process is killed, the fields hold the results', async () => {
  const { run, interview, shown, calls, points, people, sandbox } = await resultsWorld();
  let [next, expected] = [0, 0];
  const person = async () => {
    const one = people[next];
    if (one === undefined) throw new Error('too few people');
    await interview(one, 10 + next);
    next += 1;
  };
  for (const kind of REQUEST_FAULTS) {
    await person();
    await sandbox.control.act('setFaults', { faults: [{ kind, on: WRITE, nth: 1 }] });
    await run(`fault-${kind}`);
  }
  await person();
  points.arm(0);
  await run('recorded');
  const passed = points.arm(0);
  expect(passed).toContain(`${WRITE}/after`);
  // Each write of the run and each call, and every third point besides.
  for (const [n, name] of passed.entries())
    if (n % 3 === 0 || name.startsWith(WRITE)) {
      await person();
      points.arm(n + 1);
      await run(`killed-${n}`);
      points.arm(0);
      await run(`after-${n}`);
    }
  for (const one of people.slice(0, next)) {
    expect(await shown(one)).toEqual([10 + expected, undefined]);
    expected += 1;
  }
  const writes = await calls(WRITE);
  await run('last');
  expect(await calls(WRITE)).toBe(writes);
});

test('edits by anybody, deletions and lost or doubled webhooks come to what the interviews say', async () => {
  const { run, interview, shown, set, calls, hint, store, people, sandbox, one } = await resultsWorld();
  const random = createRandom(Number(process.env['RECRUITING_FIRST'] ?? 7));
  /** By submission: its score once there is one, and what somebody typed until then. */
  const taken = new Map<string, { person: (typeof people)[number]; score?: number; typed?: number }>();
  const left = [...people];
  for (let step = 0; step < 30; step += 1) {
    const [submissionId, known] = [...taken][Math.floor(random() * taken.size)] ?? [];
    const [act, score] = [random(), Math.floor(random() * 100)];
    const person = left.pop();
    if (known === undefined || act < 0.4) {
      if (person === undefined) continue;
      const isScored = random() < 0.5;
      taken.set(await interview(person, isScored ? score : undefined), { person, ...(isScored && { score }) });
    } else if (act < 0.65 && known.score === undefined) {
      await sandbox.control.act('scoreInterview', { submissionId: submissionId ?? '', score });
      known.score = score;
    } else if (act < 0.9) {
      await set(known.person, score);
      known.typed = score;
    } else {
      await sandbox.partner.jobCandidates.remove({ params: { jobCandidateId: known.person.id } });
      taken.delete(submissionId ?? '');
    }
    if (random() < 0.4) await hint(random() < 0.5 ? [one] : [one, one]);
    if (random() < 0.3) await run(`told-${step}`, { hinted: true });
  }
  await clearHints(store, 'acme', 'results', await readHints(store, 'acme', 'results'));
  await run('whole');
  for (const { person, score, typed } of taken.values())
    expect(await shown(person)).toEqual([score ?? typed, undefined]);
  const scored = [...taken.values()].filter(({ score }) => score !== undefined).length;
  expect(scored).toBeGreaterThan(3);
  const writes = await calls(WRITE);
  expect(await run('again')).toMatchObject({ state: 'done', counts: { updated: 0, unchanged: scored } });
  expect(await calls(WRITE)).toBe(writes);
});

test('where many other values would be replaced, a person is asked; empty ones are filled unasked', async () => {
  const { run, interview, set, shown, calls, store, people } = await resultsWorld();
  for (const one of people.slice(0, 25)) await interview(one, 50);
  for (const one of people.slice(0, 21)) await set(one, 3);
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'MASS_RESULTS' });
  expect(await calls(WRITE)).toBe(0);
  await resumeStream(store, key, 'somebody');
  expect(await run('two')).toMatchObject({ state: 'done', counts: { updated: 25 } });
  expect(await Promise.all(people.slice(0, 25).map(shown))).toEqual(people.slice(0, 25).map(() => [50, undefined]));
});

test('erased people stay so; what fits no field, or is of nobody, is named, and the others are written', async () => {
  const { run, interview, shown, calls, store, people, trio, partnerSays, one, hint } = await resultsWorld();
  const [first, second, third] = trio;
  const fourth = people[3] ?? third;
  const nameless = await interview(first, 60);
  await interview(second, 61);
  await interview(third, 62);
  const odd = await interview(fourth, 63);
  const [ours] = people.slice(4);
  if (ours === undefined) throw new Error('too few people');
  const known = await interview(ours, 64);
  await markPerson(store, { tenantId: 'acme', mark: 'erased', by: 'ada', about: 'request' }, [
    { kind: 'candidate', id: String(second.candidateId) },
  ]);
  // An interview that names no application is known by the reference of our invitation.
  const invitee = { assessmentId: one, candidateId: String(ours.candidateId), jobCandidateId: String(ours.id) };
  await sendInvitations(store, 'acme', [{ invitee, before: undefined }], { writeId: 'w', budgetMs: 1 });
  partnerSays.change = (operation, answer) => {
    if (operation !== LIST) return;
    const { data } = (answer as { body: { data: { candidates?: unknown } } }).body;
    const items = (Array.isArray(data) ? data : data.candidates) as Record<string, unknown>[];
    for (const item of items) {
      if (item['submissionId'] === nameless) delete item['jobCandidateId'];
      if (item['submissionId'] === odd) item['score'] = 'n/a';
      if (item['submissionId'] === known)
        Object.assign(item, { jobCandidateId: undefined, externalRef: `hirebridge-invite:${ours.candidateId}` });
    }
  };
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { updated: 2, skipped: 1, quarantined: 1 } });
  expect((await Promise.all([first, second, third, fourth, ours].map(shown))).map(([score]) => score)).toEqual([
    undefined,
    undefined,
    62,
    undefined,
    64,
  ]);
  const [told] = (await readQuarantine(store, key)).filter(({ record_key: id }) => id === String(fourth.id));
  expect(told?.reason).toMatch(/^custom field "Interview" \(.+\) takes a number$/);
  expect(await calls(WRITE)).toBe(1);
  // A run that looks at nothing of it still tells of it.
  await hint(['another']);
  expect(await run('hinted', { hinted: true })).toMatchObject({ state: 'partial', counts: { quarantined: 2 } });
});
