import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  API_KEY,
  FILE_CATEGORY,
  REFERENCE_FIELD,
  startBambooDouble,
} from '../../../src/counterparts/bamboohr-double.ts';
import { startHttpProxy } from '../../../src/hris-kit/http-proxy.ts';
import { readHire } from '../../../src/operator/hires.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { addHints, readHints } from '../../../src/store/hints.ts';
import type { LeasedDelivery } from '../../../src/store/inbox.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { createCoalesced, hintStreams } from '../../../src/worker/dispatch.ts';
import { documentedHire, hashOf } from '../../hris/documented-hire.ts';

const key = { tenantId: 'acme', stream: 'documents' };
const LAG_MS = 60_000;

test('a hire ends in BambooHR, its number stands with the partner, and its documents arrive once', async () => {
  const { run, shown, stored, hire, double, served, onboardingHashes, store } = await hiredIntoBamboo();
  expect(double.company.employees.size).toBe(1);
  expect(await shown()).toMatchObject({ status: 'hired', employeeId: hire.employee_number });
  expect(stored()).toEqual([]);
  const documents = await onboardingHashes();
  expect(documents.length).toBeGreaterThan(0);
  const created = 1 + documents.length;
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created } });
  expect(stored().map(hashOf).toSorted()).toEqual([hashOf(served.bytes), ...documents].toSorted());
  expect(await run('two', { full: true })).toMatchObject({ state: 'done', counts: { created: 0, unchanged: created } });
  expect(stored()).toHaveLength(created);
  const noted = await listWrites(store, { tenantId: 'acme', target: 'documents' });
  expect(noted.map(({ outcome }) => outcome)).toEqual(Array(created).fill('done'));
});

test('what comes of the medical test stays with the partner, unless the tenant lists it', async () => {
  for (const [listed, medical] of [
    ['onboarding', false],
    ['medical', true],
  ] as const) {
    const { run, stored, onboardingHashes } = await hiredIntoBamboo(listed, undefined, true);
    expect((await onboardingHashes(true)).length).toBe(1);
    expect((await onboardingHashes(false)).length).toBeGreaterThan(1);
    await run('one');
    expect(stored().map(hashOf).toSorted(), listed).toEqual(await onboardingHashes(medical));
  }
});

test('the consent of an application is kept with the employee, once', async () => {
  const { run, stored, sandbox, hire } = await hiredBesideFolder('consent');
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  const params = { jobCandidateId: Number(hire.job_candidate_id) };
  const { pdfUrl } = (await sandbox.partner.jobCandidates.getConsentDocument({ params })).data.document;
  const shown = Buffer.from(await (await fetch(pdfUrl ?? '')).arrayBuffer());
  expect(shown.subarray(0, 5).toString()).toBe('%PDF-');
  expect(stored().map(hashOf)).toEqual([hashOf(shown)]);
  expect(await run('two', { full: true })).toMatchObject({ counts: { created: 0, unchanged: 1 } });
});

test('a document whose step the partner does not tell stays there and is told, until both are wanted', async () => {
  for (const [listed, isWanted] of [
    ['onboarding', false],
    ['onboarding, medical', true],
  ] as const) {
    const { run, stored, onboardingHashes, sandbox, store, hire } = await hiredIntoBamboo(listed, undefined, true);
    const all = await onboardingHashes();
    const untold = { kind: 'schema-surprise', surprise: 'unknown-enum', items: 50 } as const;
    await sandbox.control.act('setFaults', { faults: [{ ...untold, on: 'onboarding.listDocuments' }] });
    const counts = isWanted ? { created: all.length } : { created: 0, quarantined: all.length };
    expect(await run('one')).toMatchObject({ counts });
    expect(stored().map(hashOf).toSorted()).toEqual(isWanted ? all : []);
    if (isWanted) continue;
    expect((await readQuarantine(store, key))[0]?.reason).toMatch(
      /may be from the medical test.*"documents: \[onboarding, medical\]"/,
    );
    const { story } = await readHire(store, 'acme', hire.job_candidate_id);
    expect(story.filter(({ kind }) => kind === 'document')).toHaveLength(all.length);
  }
});

test('a document or offer that cannot be read is told, and the others arrive', async () => {
  const { run, stored, onboardingHashes, sandbox, store, hire } = await hiredIntoBamboo('onboarding, offers');
  const { control } = sandbox;
  const all = await onboardingHashes();
  const jobCandidateId = Number(hire.job_candidate_id);
  const { offerId } = (await control.act('createOffer', { jobCandidateId, name: 'Offer' })) as { offerId: string };
  await control.act('completeOffer', { offerId });
  const odd = { kind: 'schema-surprise', items: 1 } as const;
  const unread = { ...odd, surprise: 'unreadable', on: 'onboarding.listDocuments' } as const;
  const withoutFile = { ...odd, surprise: 'null-for-absent', on: 'onboarding.listOffers' } as const;
  await control.act('setFaults', { faults: [unread, withoutFile] });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { created: all.length - 1, quarantined: 2 } });
  expect(stored()).toHaveLength(all.length - 1);
  const reasons = (await readQuarantine(store, key)).map(({ record_key: id, reason }) => `${id}: ${reason}`);
  expect(reasons.toSorted()).toEqual([
    expect.stringMatching(`${jobCandidateId}/offer:${offerId}: .*shows no signed PDF.*fieldNames`),
    expect.stringMatching(`${jobCandidateId}/onboarding document 1: documentId`),
  ]);
  await control.act('setFaults', { faults: [] });
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 2 } });
  expect(await readQuarantine(store, key)).toEqual([]);
});

test('each document is a receipt in the story of its hire, by the hash of its bytes', async () => {
  const { run, store, hire, served } = await hiredIntoBamboo('resume');
  await run('one');
  const { story } = await readHire(store, 'acme', hire.job_candidate_id);
  const receipts = story.filter(({ kind }) => kind === 'document').map(({ text }) => text);
  expect(receipts).toEqual([`resume, attempt 1: delivered and read back, sha256 ${hashOf(served.bytes)}`]);
});

test.each(['cut', 'answer-lost', 'reset-before', 'executed-late'] as const)(
  'a document whose upload meets %s arrives once and whole',
  async (kind) => {
    const { run, stored, served, strike } = await hiredIntoBamboo('resume');
    expect(await run('one', { meanwhile: strike(kind) })).toMatchObject({ state: 'done', counts: { created: 1 } });
    expect(stored().map(hashOf)).toEqual([hashOf(served.bytes)]);
    expect(await run('two', { full: true })).toMatchObject({ state: 'done', counts: { unchanged: 1 } });
    expect(stored()).toHaveLength(1);
  },
);

test.each([
  ['bamboohr', hiredIntoBamboo],
  ['a folder beside a table', hiredBesideFolder],
] as const)(
  '%s: a document arrives once, wherever its process is killed',
  async (_, hired) => {
    const { run, stored, served, points, store, forget } = await hired('resume');
    points.arm(0);
    await run('recorded');
    const passed = points.arm(0);
    expect(passed).toBeGreaterThan(8);
    for (let nth = 1; nth <= passed; nth += 1) {
      await store.kysely.deleteFrom('hire_documents').execute();
      await store.kysely.deleteFrom('document_looks').execute();
      forget();
      points.arm(nth);
      expect(await run(`killed-${nth}`), `killed at ${nth}`).toMatchObject({ state: 'done', counts: { created: 1 } });
      expect(stored().map(hashOf), `killed at ${nth}`).toEqual([hashOf(served.bytes)]);
      const [row] = await store.kysely.selectFrom('hire_documents').selectAll().execute();
      expect([row?.state, row?.read_back_at !== null], `killed at ${nth}`).toEqual(['delivered', true]);
    }
  },
  120_000,
);

test('a document that is not shown yet is looked for, and never sent again', async () => {
  const { run, stored, hide, store } = await hiredIntoBamboo('resume', { fileCategory: FILE_CATEGORY, readLag: '1m' });
  const hidden = hide(2);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 1 } });
  await hidden;
  expect(stored()).toHaveLength(1);
  const [row] = await store.kysely.selectFrom('hire_documents').selectAll().execute();
  expect([row?.state, row?.attempt, row?.read_back_at !== null]).toEqual(['delivered', 1, true]);
});

test('a document that reads otherwise is told, and sent again only when somebody says so', async () => {
  const { run, stored, spoil, store, hire, served } = await hiredIntoBamboo('resume');
  spoil(true);
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect((await readQuarantine(store, key))[0]?.reason).toMatch(/other bytes or not at all.*retry TENANT documents/);
  expect(await run('two')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(stored()).toHaveLength(1);
  const { story } = await readHire(store, 'acme', hire.job_candidate_id);
  expect(story.find(({ kind }) => kind === 'document')?.text).toMatch(/^resume, attempt 1: unlike, sha256 /);
  spoil(false);
  expect(await run('three', { full: true })).toMatchObject({
    state: 'partial',
    counts: { created: 0, quarantined: 1 },
  });
  expect(stored()).toHaveLength(1);
  await addHints(store, 'acme', 'documents', [`${hire.job_candidate_id}/resume`]);
  expect(await run('four')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(stored()).toHaveLength(2);
  expect(stored().map(hashOf)).toContain(hashOf(served.bytes));
  expect(await readQuarantine(store, key)).toEqual([]);
});

test('a document that was taken, and is listed no more before it was read back, is told', async () => {
  const { run, store } = await hiredIntoBamboo('resume');
  await run('one');
  const row = await store.kysely.selectFrom('hire_documents').selectAll().executeTakeFirstOrThrow();
  const earlier = { document: 'onboarding:999', state: 'taken' as const, read_back_at: null, give_up_at: 1 };
  await store.kysely
    .insertInto('hire_documents')
    .values({ ...row, ...earlier })
    .execute();
  expect(await run('two', { full: true })).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect((await readQuarantine(store, key))[0]?.reason).toMatch(/stopped listing it/);
});

test('what stands at the address is no file, too large or away: it is told, and taken once it is right', async () => {
  const { run, stored, served, clock, store } = await hiredIntoBamboo('resume');
  const { bytes } = served;
  const told = async (reason: RegExp) => {
    const [left, ...others] = await readQuarantine(store, key);
    expect([left?.reason, others.length]).toEqual([expect.stringMatching(reason), 0]);
    expect(left?.reason).not.toMatch(/ana|reyes|secret|127\.0\.0\.1/i);
  };
  served.status = 503;
  expect(await run('away')).toMatchObject({ state: 'partial', counts: { skipped: 1 } });
  await told(/status 503/);
  Object.assign(served, { status: 200, type: 'text/html', bytes: Buffer.from('<html>') });
  expect(await run('page')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  await told(/leads to a web page/);
  // Refused for good: it is told with each pass, and looked at again once a day.
  Object.assign(served, { type: 'application/pdf', bytes: Buffer.alloc(21 * 1024 * 1024) });
  expect(await run('same')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  await told(/leads to a web page/);
  clock.ahead += 2 * 86_400_000;
  await run('large');
  await told(/larger than 20 MB/);
  clock.ahead += 2 * 86_400_000;
  Object.assign(served, { status: 302, bytes });
  await run('redirected');
  await told(/redirects \(302\), and no redirect is followed.*Ask the hiring platform for the address of the file/);
  clock.ahead += 2 * 86_400_000;
  served.status = 200;
  expect(await run('right')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(stored().map(hashOf)).toEqual([hashOf(bytes)]);
  expect(await readQuarantine(store, key)).toEqual([]);
});

test('a document that the HR system refuses is told, and nothing is open', async () => {
  const { run, stored, answer, store } = await hiredIntoBamboo('resume');
  void answer({ status: 413 });
  expect(await run('one')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect(stored()).toEqual([]);
  const noted = await listWrites(store, { tenantId: 'acme', target: 'documents' });
  expect(noted.map(({ outcome }) => outcome)).toEqual(['refused']);
  expect(await run('two', { full: true })).toMatchObject({ state: 'done', counts: { created: 1 } });
});

test('an offer signed late is in the record with the pass of its event', async () => {
  const { run, stored, sandbox, hire, store } = await hiredIntoBamboo('onboarding, offers');
  await run('at the end');
  const before = stored().length;
  const { control } = sandbox;
  const jobCandidateId = Number(hire.job_candidate_id);
  const { offerId } = (await control.act('createOffer', { jobCandidateId, name: 'Offer' })) as { offerId: string };
  await control.act('completeOffer', { offerId });
  expect(await run('no event yet')).toMatchObject({ counts: { created: 0 } });
  const asked: string[] = [];
  const hinter = {
    store,
    runsByItself: () => true,
    streamHints: createCoalesced(async (about) => void asked.push(about), 0),
  };
  const delivery = {
    tenantId: 'acme',
    event: 'onboarding.offer.completed',
    ids: { jobCandidateId: [hire.job_candidate_id] },
  };
  await hintStreams(hinter, [delivery as unknown as LeasedDelivery]);
  expect(asked).toEqual(['acme documents']);
  expect(await run('its event')).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(stored()).toHaveLength(before + 1);
  expect(await readHints(store, 'acme', 'documents')).toEqual([]);
  const name = 'onboarding.listOffers';
  const looks = async () => (await control.counts({ kind: 'request', name })).request?.[name] ?? 0;
  const enrolment = { onboardingCandidateId: [hire.onboarding_candidate_id ?? ''] };
  for (const [ids, more] of [
    [enrolment, 1],
    [{}, 1],
    [{ onboardingCandidateId: ['999999'] }, 0],
  ] as const) {
    const was = await looks();
    const event = { ...delivery, event: 'onboarding.documents.verified', ids };
    await hintStreams(hinter, [event as unknown as LeasedDelivery]);
    await run(`again ${JSON.stringify(ids)}`);
    expect((await looks()) - was, JSON.stringify(ids)).toBe(more);
  }
});

test('an offer that the partner shows some time after its event is in the record soon after', async () => {
  const { run, stored, sandbox, hire, store, clock, lag } = await hiredIntoBamboo('offers');
  const { control } = sandbox;
  const jobCandidateId = Number(hire.job_candidate_id);
  const { offerId } = (await control.act('createOffer', { jobCandidateId, name: 'Offer' })) as { offerId: string };
  await run('at the end');
  lag(LAG_MS);
  await addHints(store, 'acme', 'documents', [hire.job_candidate_id]);
  clock.ahead += 1_000;
  expect(await run('told')).toMatchObject({ counts: { created: 0 }, againInMs: LAG_MS });
  // Only now does the partner show what the event told of.
  await control.act('completeOffer', { offerId });
  clock.ahead += LAG_MS;
  const step = await run('told/1');
  expect(step).toMatchObject({ state: 'done', counts: { created: 1 } });
  expect(step).not.toHaveProperty('againInMs');
  expect(stored()).toHaveLength(1);
  expect(await readHints(store, 'acme', 'documents')).toEqual([]);
});

test('a hire whose documents cannot be listed for now keeps no other hire’s documents waiting', async () => {
  const { run, stored, store, hire, sandbox } = await hiredBesideFolder('resume');
  const first = { ...hire, job_candidate_id: '0', onboarding_candidate_id: null };
  await store.kysely.insertInto('hires').values(first).execute();
  await addHints(store, 'acme', 'documents', ['0', hire.job_candidate_id]);
  await sandbox.control.act('setFaults', { faults: [{ kind: 'server-error', on: 'candidates.get', nth: 1 }] });
  await expect(run('one')).rejects.toMatchObject({ status: 500 });
  expect(stored()).toHaveLength(1);
  expect(await readHints(store, 'acme', 'documents')).toMatchObject([{ recordId: '0' }]);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 2 } });
  expect(await readHints(store, 'acme', 'documents')).toEqual([]);
});

test.each(['kept', 'cleared'])(
  'no document goes into a record that became somebody else; pinned: %s',
  async (pinned) => {
    const { run, stored, double, hire, store } = await hiredIntoBamboo('resume');
    const record = double.company.employees.get(hire.employee_id ?? '') ?? {};
    const own = record[REFERENCE_FIELD] ?? '';
    record[REFERENCE_FIELD] = '99:5001';
    // As retention leaves it.
    if (pinned === 'cleared') await store.kysely.updateTable('intents').set({ pinned: '{}' }).execute();
    expect(await run('one')).toMatchObject({ counts: { created: 0, quarantined: 1 } });
    expect(stored()).toEqual([]);
    expect((await readQuarantine(store, key))[0]?.reason).toMatch(/no longer has the reference/);
    record[REFERENCE_FIELD] = own;
    expect(await run('two', { full: true })).toMatchObject({ counts: { created: 1 } });
  },
);

test('documents for an HR system that has no section for them are refused when the file is applied', async () => {
  await expect(hiredIntoBamboo('resume', {})).rejects.toThrow(
    /takes no documents as configured\. Set hris\.fileCategory/,
  );
});

/** One hire into a company with a section for files, and faults that an upload may meet. */
async function hiredIntoBamboo(
  documents?: string,
  section: object = { fileCategory: FILE_CATEGORY },
  isExamined = false,
) {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  const proxy = await startHttpProxy(double.url);
  onTestFinished(() => proxy.close());
  vi.stubEnv('TEST_BAMBOO_KEY', API_KEY);
  const hris = {
    kind: 'bamboohr',
    connection: 'acme-hr',
    url: proxy.url,
    apiKey: 'env:TEST_BAMBOO_KEY',
    referenceField: REFERENCE_FIELD,
    readLag: '0ms',
    allowPrivateAddress: true,
    ...section,
  };
  const steps = ['doc_collection', 'pre_employment_medical_test', 'background_verification'] as const;
  const given = JSON.stringify(hris).slice(1, -1);
  const hired = await documentedHire(given, documents, isExamined ? [...steps] : undefined);
  const { files } = double.company;
  const keep = files.set.bind(files);
  const on = ({ method, path }: { method: string; path: string }) => method === 'POST' && path.endsWith('/files');
  return {
    ...hired,
    double,
    strike: (kind: 'cut' | 'answer-lost' | 'reset-before' | 'executed-late') => proxy.strike({ kind, on }),
    answer: (answer: { status: number }) => proxy.strike({ kind: 'answer', on, answer }),
    forget: () => files.clear(),
    /** So often what was uploaded is not shown yet. */
    hide: (times: number) =>
      Promise.all(
        Array.from({ length: times }, () =>
          proxy.strike({
            kind: 'answer',
            on: ({ path }) => files.size > 0 && path.endsWith('/files/view'),
            answer: { status: 404 },
          }),
        ),
      ),
    /** Whether the HR system changes what it is given. */
    spoil: (isSpoilt: boolean) => {
      const spoilt = (bytes: Buffer) => Buffer.concat([Buffer.from('stamped'), bytes]).subarray(0, bytes.length);
      files.set = (id, all) => keep(id, isSpoilt ? all.map((file) => ({ ...file, bytes: spoilt(file.bytes) })) : all);
    },
    /** Every file in the record. */
    stored: () => (files.get(hired.hire.employee_id ?? '') ?? []).map(({ bytes }) => bytes),
  };
}

/** One hire into a table with a folder for files beside it. */
async function hiredBesideFolder(documents?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'hirebridge-files-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const hris = 'kind: sql, connection: acme-hr, url: sqlite:./acme.sqlite, createTable: true';
  const hired = await documentedHire(`${hris}, files: { folder: ${folder} }`, documents);
  const place = join(folder, hired.hire.employee_id ?? '');
  return {
    ...hired,
    forget: () => rmSync(place, { recursive: true, force: true }),
    /** Everything that stands there, whatever its name is. */
    stored: () => (existsSync(place) ? readdirSync(place).map((name) => readFileSync(join(place, name))) : []),
  };
}
