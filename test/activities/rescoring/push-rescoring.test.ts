import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { clearHints, readHints } from '../../../src/store/hints.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { hintOfAsk } from '../../../src/streams/stream.ts';
import { openPushWorld } from '../push-world.ts';

const key = { tenantId: 'acme', stream: 'rescoring' };

/** A job with candidates, and what the partner's ledger says of runs. */
async function rescoringWorld(jobs = 1) {
  const world = await openPushWorld('rescoring', { candidates: 30, jobs }, async () => ({}));
  const { sandbox, store, clock } = world;
  const jobId = String((await sandbox.partner.readAll(contract.jobs.list, {})).items[0]?.id);
  let asked = 0;
  return {
    ...world,
    jobId,
    /** Asks for this job, or another one. */
    ask: (job = jobId) =>
      world.hint([hintOfAsk({ jobId: job, askedAt: Math.round(clock.now / 1_000) + (asked += 1) })]),
    runs: () => sandbox.control.ledger({ kind: 'effect', name: 'rescore' }),
    async scores() {
      const input = { params: { jobId: Number(jobId) } };
      const { items } = await sandbox.partner.readAll(contract.jobCandidates.listByJob, input);
      return new Map(items.map((one) => [String(one['id']), one['profileMatchScore']]));
    },
    /** Whose new scores the stream of applications is to read; they are taken away. */
    async toRead() {
      const hints = await readHints(store, 'acme', 'applications');
      await clearHints(store, 'acme', 'applications', hints);
      return hints.map(({ recordId }) => recordId).toSorted();
    },
    reason: async () => (await readQuarantine(store, key)).map(({ reason }) => reason).join(' '),
  };
}

test('each ask is one run, followed to its end, and its scores are read; nothing runs unasked', async () => {
  const { run, once, ask, runs, scores, toRead, sandbox } = await rescoringWorld();
  expect(await once('zero')).toMatchObject({ state: 'done' });
  expect(await runs()).toEqual([]);
  const before = await scores();
  await ask();
  await expect(once('one')).rejects.toMatchObject({ code: 'RESCORE_RUNNING', retryAfterMs: 5_000 });
  await sandbox.later(10_000);
  expect(await once('one')).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect(await once('two')).toMatchObject({ state: 'done', counts: { updated: 0 } });
  expect(await runs()).toHaveLength(1);
  const after = await scores();
  const scored = await toRead();
  expect(scored.length).toBeGreaterThan(0);
  expect(scored.every((id) => after.has(id))).toBe(true);
  expect([...after].some(([id, score]) => before.get(id) !== score)).toBe(true);
  await ask();
  await run('three');
  expect(await runs()).toHaveLength(2);
});

test('a run that never ends holds up no other request, and is told after a day', async () => {
  const { once, ask, jobId, runs, clock, partnerSays, sandbox, reason } = await rescoringWorld();
  const jobs = (await sandbox.partner.readAll(contract.jobs.list, {})).items.map(({ id }) => String(id));
  let [stuck, isFirst] = ['', true];
  partnerSays.change = (operation, answer) => {
    const { data } = (answer as { body: { data?: { rescoreId?: string; status?: string } } }).body;
    if (operation === 'jobCandidates.rescore' && isFirst) [stuck, isFirst] = [data?.rescoreId ?? '', false];
    if (operation === 'jobCandidates.getRescore' && data?.rescoreId === stuck) data.status = 'queued';
  };
  await ask();
  await expect(once('one')).rejects.toMatchObject({ code: 'RESCORE_RUNNING' });
  await ask(jobs.find((id) => id !== jobId) ?? jobId);
  await expect(once('one')).rejects.toMatchObject({ code: 'RESCORE_RUNNING' });
  expect(await runs()).toHaveLength(2);
  await sandbox.later(10_000);
  await expect(once('one')).rejects.toMatchObject({ code: 'RESCORE_RUNNING' });
  clock.now += 90_000_000;
  expect(await once('one')).toMatchObject({ counts: { quarantined: 1 } });
  expect(await reason()).toContain('has not ended within a day');
});

test('a run that the key may not look at is told, and holds up no other request', async () => {
  const { run, once, ask, jobId, runs, partnerSays, sandbox, reason } = await rescoringWorld(2);
  const jobs = (await sandbox.partner.readAll(contract.jobs.list, {})).items.map(({ id }) => String(id));
  let shut = '';
  partnerSays.change = (operation, answer) => {
    const { data } = (answer as { body: { data?: { rescoreId?: string } } }).body;
    if (operation === 'jobCandidates.rescore') shut ||= data?.rescoreId ?? '';
  };
  partnerSays.refuses = (operation, input) =>
    operation === 'jobCandidates.getRescore' && JSON.stringify(input).includes(shut)
      ? [403, 'PERMISSION_DENIED']
      : undefined;
  await ask();
  await ask(jobs.find((id) => id !== jobId) ?? jobId);
  await expect(once('one')).rejects.toMatchObject({ code: 'RESCORE_RUNNING' });
  await sandbox.later(10_000);
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { updated: 1, quarantined: 1 } });
  expect(await reason()).toContain('PERMISSION_DENIED');
  expect(await runs()).toHaveLength(2);
});

test('one run an ask, wherever the process is killed or an answer lost, as far as anybody can know', async () => {
  const { run, once, ask, runs, toRead, sandbox, points, clock, hint, reason } = await rescoringWorld();
  await ask();
  points.arm(0);
  await run('recorded');
  const passed = points.arm(0).length;
  for (let nth = 1; nth <= passed; nth += 1) {
    await ask();
    points.arm(nth);
    await run(`killed-${nth}`);
    points.arm(0);
    await run(`after-${nth}`);
  }
  const known = await runs();
  expect(known.length).toBeLessThanOrEqual(passed + 1);
  expect(known.length).toBeGreaterThan(passed / 2);
  await toRead();

  const faults = [{ kind: 'answer-lost' as const, on: 'jobCandidates.rescore', nth: 1 }];
  await sandbox.control.act('setFaults', { faults });
  await ask();
  await expect(once('lost')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await sandbox.later(10_000);
  const ended = (await sandbox.told('job.candidates.rescored')).at(-1);
  clock.now += 600_000;
  await hint([String(ended?.['rescoreId'])]);
  expect(await once('lost')).toMatchObject({ state: 'done', counts: { updated: 1 } });
  expect((await toRead()).length).toBeGreaterThan(0);
  expect(await runs()).toHaveLength(known.length + 1);

  await sandbox.control.act('setFaults', { faults });
  await ask();
  await run('unknown');
  expect(await reason()).toContain('no event reports its run');
  expect(await runs()).toHaveLength(known.length + 2);

  await sandbox.control.act('setCredits', { credits: 0 });
  await ask();
  expect(await run('poor')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(await reason()).toContain('INSUFFICIENT_CREDITS');
});
