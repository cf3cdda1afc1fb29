import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { createSecretPages } from '../../../src/receiver/secret-pages.ts';
import { changeHris } from '../../../src/store/change-hris.ts';
import { askErasure } from '../../../src/store/erasures.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { completeIds, erasePersonRows, findPersonRows } from '../../../src/store/person-data.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import { readTenantState } from '../../../src/store/tenant-states.ts';
import { landings } from '../../../src/streams/streams.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { type ServedFile, serveFiles } from '../../hris/sftp-server.ts';
import { serve } from '../../http/servers.ts';
import { openPushWorld } from '../push-world.ts';

const key = { tenantId: 'acme', stream: 'resumes' };
const LAG_MS = 60_000;
const PDF = Buffer.from('%PDF-1.7\nA person who wants a job.\n%%EOF\n');
const web = (name: string) => `https://files.example.com/${name}`;

/** A table of the HR system that lists addresses, or what `listedBy` opens, and a job that they are for. */
async function resumeWorld({ atOnce = 200, publicUrl, listedBy, between, store: kind }: WorldOptions = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-resumes-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const database = new DatabaseSync(join(dir, 'hr.db'));
  onTestFinished(() => database.close());
  database.exec('create table files (id text primary key, job_no integer, link text)');
  const resumes = { table: 'files', jobColumn: 'job_no', urlColumn: 'link' };
  const hris = await openHris('sql', 'acme-hr', { url: `sqlite:${join(dir, 'hr.db')}`, resumes }, { landings });
  onTestFinished(() => hris.close());
  const world = await openPushWorld(
    'resumes',
    { candidates: 4, hris: listedBy ?? hris, ...(between && { between }), ...(kind && { store: kind }) },
    async () => {
      return { resumes: { publicUrl, atOnce } } as Partial<Tenant>;
    },
  );
  const { sandbox, store } = world;
  await readTenantState(store, 'acme');
  const jobId = String((await sandbox.partner.readAll(contract.jobs.list, {})).items[0]?.id);
  const people = async () =>
    (await sandbox.partner.readAll(contract.candidates.list, { query: { jobIds: [Number(jobId)] } })).items;
  const before = new Set((await people()).map(({ id }) => id));
  return {
    ...world,
    jobId,
    list(...ids: string[]): void {
      const insert = database.prepare('insert into files (id, job_no, link) values (?, ?, ?)');
      for (const id of ids) insert.run(id, jobId, web(id));
    },
    ofJob: (job: number, ...ids: string[]) => {
      for (const id of ids) database.prepare('update files set job_no = ? where id = ?').run(job, id);
    },
    rows: () => store.kysely.selectFrom('resumes').selectAll().orderBy('resume_id').execute(),
    reasons: async () =>
      new Map((await readQuarantine(store, key)).map(({ record_key: id, reason }) => [id.split(' ')[0], reason])),
    /** By the partner's own ledger: files of all batches, requests, and applications that are new in the job. */
    async made() {
      const batches = await sandbox.control.ledger({ kind: 'effect', name: 'resume-batch' });
      const { request = {} } = await sandbox.control.counts({ kind: 'request' });
      return {
        files: batches.reduce((sum, { detail }) => sum + Number(detail['fileCount']), 0),
        requests: request['jobCandidates.uploadResumes'] ?? 0,
        people: (await people()).filter(({ id }) => !before.has(id)).length,
      };
    },
  };
}

interface WorldOptions {
  atOnce?: number;
  publicUrl?: string;
  listedBy?: Pick<HrisConnection, 'resumes'>;
  between?: (url: string) => Promise<string>;
  store?: 'sqlite' | 'postgres';
}

/** A drop folder behind an SSH server, and a receiver that serves what the partner is to read. */
async function dropFolder() {
  const files: Record<string, ServedFile> = {};
  const { options } = await serveFiles(files);
  const hris = await openHris('sftp', 'acme-sftp', { ...options, resumes: {} }, { landings });
  onTestFinished(() => hris.close());
  let pages: ReturnType<typeof createSecretPages> | undefined;
  const receiver = createServer((request, response) => {
    if (pages?.(request, response) !== true) response.writeHead(418).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const publicUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const world = await resumeWorld({ publicUrl, listedBy: hris });
  pages = createSecretPages(() => world.store);
  let lists = 0;
  return {
    ...world,
    files,
    /** Lists some files in a manifest of their own: an id, a file or an address, perhaps another job. */
    drop(...rows: [id: string, what: { file?: string; url?: string; job?: string }][]): void {
      const lines = rows.map(([id, { file = '', url = '', job = world.jobId }]) => [id, job, file, url].join(','));
      files[`resumes/list-${(lists += 1)}.csv`] = { bytes: Buffer.from(['id,job,file,url', ...lines].join('\r\n')) };
    },
  };
}

test.each(['sqlite', 'postgres'] as const)('ids of another HR system are other files, in %s', async (kind) => {
  const { run, list, made, rows, store, connection, reasons, sandbox } = await resumeWorld({ store: kind });
  list('a', 'b', 'c');
  for (const name of ['one', 'settled']) {
    await run(name);
    await sandbox.later();
  }
  expect([await made(), (await rows()).map(({ state }) => state)]).toMatchObject([
    { files: 3 },
    ['done', 'done', 'done'],
  ]);
  // As an earlier version left them.
  await store.kysely.updateTable('resumes').set({ connection: null }).where('resume_id', 'in', ['a', 'b']).execute();
  const change = (from: string, to: string, way: 'keep' | 'new') =>
    changeHris(store, { tenantId: 'acme', from, to, way });
  await change('acme-hr', 'renamed', 'keep');
  connection.tenant.hris.connection = 'renamed';
  await run('two');
  expect(await made()).toMatchObject({ files: 3 });
  await change('renamed', 'anew', 'new');
  connection.tenant.hris.connection = 'anew';
  // A list beside the HR system stays as it was.
  Object.assign(connection.tenant, { landing: { resumes: {} } });
  await run('three');
  expect(await made()).toMatchObject({ files: 3 });
  Object.assign(connection.tenant, { landing: undefined });
  await run('four');
  await sandbox.later();
  expect(await made()).toMatchObject({ files: 6 });
  await run('five');
  expect(await made()).toMatchObject({ files: 6 });
  expect([await reasons(), (await rows()).map((row) => row.connection)]).toEqual([new Map(), ['anew', 'anew', 'anew']]);
});

test('a job that the hiring platform refuses, and a batch that it does not show, stop no other file', async () => {
  const { run, list, ofJob, made, reasons, partnerSays, rows } = await resumeWorld();
  list('a');
  await run('one');
  const [{ batch_id: batch } = { batch_id: '' }] = await rows();
  partnerSays.refuses = (operation, input) => {
    const text = JSON.stringify(input);
    if (operation === 'candidates.getBatch' && text.includes(`${batch}`)) return [403, 'PERMISSION_DENIED'];
    return operation === 'jobCandidates.uploadResumes' && text.includes(':987654,') ? [409, 'JOB_CLOSED'] : undefined;
  };
  list('b1', 'b2', 'c');
  ofJob(987_654, 'b1', 'b2');
  await run('two');
  expect((await made()).files).toBe(2);
  expect(await reasons()).toEqual(
    new Map([
      ['a', 'the hiring platform does not show its batch'],
      ['b1', expect.stringContaining('JOB_CLOSED')],
      ['b2', expect.stringContaining('JOB_CLOSED')],
    ]),
  );
});

test('files of a drop folder become candidates, each once; a rejected one is told with its reason', async () => {
  const { run, drop, files, rows, made, reasons, sandbox } = await dropFolder();
  files['resumes/a.pdf'] = { bytes: PDF };
  drop(['a', { file: 'a.pdf' }], ['b', { url: web('ada-lovelace.pdf') }]);
  expect(await run('one')).toMatchObject({ state: 'done', counts: { created: 2 } });
  const [served] = await rows();
  const answer = await fetch(served?.url ?? '');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(Buffer.from(await answer.arrayBuffer()).equals(PDF)).toBe(true);
  await sandbox.later(10_000);
  expect(await run('two')).toMatchObject({ state: 'done', counts: { created: 0, unchanged: 2 } });
  expect((await fetch(served?.url ?? '')).status).toBe(404);
  expect(await rows()).toMatchObject([
    { state: 'done', candidate_id: expect.any(String), url: null, token: null, content: null },
    { state: 'done', candidate_id: expect.any(String), url: null },
  ]);
  const all = { files: 2, requests: 1, people: 2 };
  expect(await made()).toEqual(all);
  expect(await run('three')).toMatchObject({ counts: { created: 0, unchanged: 2 } });
  expect(await made()).toEqual(all);
  files['resumes/word.pdf'] = { bytes: Buffer.from('PK not a pdf') };
  files['resumes/empty.pdf'] = { bytes: Buffer.alloc(0) };
  drop(
    ['word', { file: 'word.pdf' }],
    ['empty', { file: 'empty.pdf' }],
    ['up', { file: '../rosters/one.csv' }],
    ['none', {}],
    ['job', { url: web('b.pdf'), job: 'R-17' }],
    ['nojob', { url: web('c.pdf'), job: '999999' }],
    ['ftp', { url: 'ftp://files.example.com/d.pdf' }],
    ['zip', { url: web('archive.zip') }],
  );
  await run('four');
  await sandbox.later(10_000);
  expect(await run('five')).toMatchObject({ state: 'partial', counts: { unchanged: 2, quarantined: 8 } });
  await run('six');
  const told = await reasons();
  const says = [...told].map(([id, reason]) => `${id}: ${reason.split(';')[0]}`).toSorted();
  expect(says).toEqual([
    'empty: the file is empty, or longer than 10 MB',
    'ftp: its address is no public http or https address',
    'job: its job is no id of a job of the hiring platform',
    'nojob: the hiring platform has no such job',
    'none: it names neither a file nor an address',
    'up: the file cannot be read where the list says it is',
    'word: the file is no PDF',
    'zip: the hiring platform found nobody in it: no resume, somebody of another file, or no credits left',
  ]);
  const { requests } = await made();
  await run('seven');
  expect((await made()).requests).toBe(requests);
  files['resumes/word.pdf'] = { bytes: PDF };
  await run('eight', { full: true });
  await sandbox.later(10_000);
  await run('nine');
  expect([(await reasons()).has('word'), (await made()).people]).toEqual([false, 3]);
});

test('of files of people whom the partner knew, it is told what cannot be known', async () => {
  const { run, list, rows, sandbox } = await resumeWorld();
  const known = { candidate: { email: 'ada.lovelace@example.com', firstName: 'Ada' } };
  const { candidateId } = (await sandbox.control.act('addCandidate', known)) as { candidateId: number };
  list('ada-lovelace.pdf');
  await run('one');
  await sandbox.later(10_000);
  await run('two');
  expect(await rows()).toMatchObject([{ state: 'done', candidate_id: String(candidateId) }]);
  list('ada-lovelace.doc', 'archive.zip');
  await run('three');
  await sandbox.later(10_000);
  await run('four');
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual([
    ['refused', 'UNCLEAR'],
    ['done', null],
    ['refused', 'UNCLEAR'],
  ]);
});

test('a lost answer is looked up by addresses or by the batch of an event, and nothing goes twice', async () => {
  const { run, once, list, rows, made, sandbox, clock, hint, reasons } = await resumeWorld();
  const faults = [{ kind: 'answer-lost' as const, on: 'jobCandidates.uploadResumes', nth: [1, 2] }];
  await sandbox.control.act('setFaults', { faults });
  list('a.pdf', 'b.pdf');
  await run('one');
  expect((await rows()).map(({ state }) => state)).toEqual(['done', 'done']);
  expect(await made()).toEqual({ files: 2, requests: 1, people: 2 });
  list('c.pdf', 'd.zip');
  await expect(once('two')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await sandbox.later(10_000);
  const ended = await sandbox.told('resume.bulk_upload_parse.completed');
  await hint(['another-batch', String(ended.at(-1)?.['batchId'])]);
  clock.now += 600_000;
  expect(await once('three', { hinted: true })).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual([
    ['done', null],
    ['done', null],
    ['done', null],
    ['refused', 'NOT_READ'],
  ]);
  expect((await reasons()).size).toBe(1);
  expect(await made()).toEqual({ files: 4, requests: 2, people: 3 });
});

test('a batch shown in full some time after its event is not one in which nobody was found', async () => {
  const { once, list, rows, made, sandbox, clock, hint, lag, partnerSays } = await resumeWorld();
  // This partner says by its event alone that a batch is over.
  partnerSays.change = (operation, answer) => {
    if (operation !== 'candidates.getBatch') return;
    const { body } = answer as { body: { status?: unknown; data?: { status?: unknown } } };
    delete body.status;
    delete body.data?.status;
  };
  list('a.pdf');
  await once('one');
  const [row] = await rows();
  lag(LAG_MS);
  await hint([String(row?.batch_id)]);
  clock.now += 1_000;
  expect(await once('told', { hinted: true })).toMatchObject({ state: 'done', againInMs: LAG_MS });
  // Only now does the partner show what the event told of.
  await sandbox.later(10_000);
  clock.now += LAG_MS;
  expect(await once('told/1', { hinted: true })).toMatchObject({ state: 'done' });
  expect(await rows()).toMatchObject([{ state: 'done', code: null }]);
  expect((await made()).people).toBe(1);
});

test('what left without an answer and is shown nowhere goes again only when a person asks', async () => {
  const { once, list, rows, made, sandbox, clock, points, reasons } = await resumeWorld();
  list('a.pdf');
  points.die('jobCandidates.uploadResumes/before');
  await expect(once('one')).rejects.toThrow('uploadResumes/before');
  clock.now += 600_000;
  expect(await once('two')).toMatchObject({ state: 'partial', counts: { quarantined: 1 } });
  expect((await reasons()).get('a.pdf')).toContain('check the job');
  expect(await made()).toEqual({ files: 0, requests: 0, people: 0 });
  await once('three', { full: true });
  await sandbox.later(10_000);
  await once('four');
  expect(await rows()).toMatchObject([{ state: 'done', attempt: 2 }]);
  expect(await made()).toEqual({ files: 1, requests: 1, people: 1 });
});

test('two workers send each once; many at once are asked about first; without credits one is tried', async () => {
  const { run, once, list, made, points, store, clock, sandbox } = await resumeWorld({ atOnce: 2 });
  list('d.pdf', 'e.pdf');
  await Promise.allSettled([once('same'), once('same')]);
  await sandbox.later(10_000);
  await run('after');
  expect(await made()).toEqual({ files: 2, requests: 1, people: 2 });
  list('a.pdf', 'b.pdf', 'c.pdf');
  expect(await run('one')).toMatchObject({ state: 'refused', code: 'MASS_RESUMES' });
  expect((await made()).requests).toBe(1);
  await resumeStream(store, key, 'somebody');
  // The sandbox takes credits when it parses (C17), so that a refusal for want of them is put in its place.
  let tries = 0;
  const { pass } = points;
  points.pass = (name) => {
    if (name === 'jobCandidates.uploadResumes/before' && (tries += 1) === 1)
      throw new ConnectorError({ code: 'INSUFFICIENT_CREDITS', action: 'reject', status: 402, message: 'none' });
    pass(name);
  };
  expect(await run('two')).toMatchObject({ counts: { held: 3 } });
  expect((await listHolds(store)).map(({ code }) => code)).toEqual(['RESUME_CREDITS']);
  expect(await run('three')).toMatchObject({ counts: { held: 3 } });
  expect(tries).toBe(1);
  clock.now += 900_000;
  expect(await run('four')).toMatchObject({ state: 'done', counts: { created: 3, held: 0 } });
  expect(await made()).toMatchObject({ files: 5, requests: 3 });
  expect(await listHolds(store)).toEqual([]);
});

test('a file whose person was erased makes no candidate again', async () => {
  const { run, list, rows, made, reasons, sandbox, store } = await resumeWorld();
  list('ada-lovelace.pdf', 'ben.pdf');
  await run('one');
  await sandbox.later(10_000);
  await run('two');
  const [ada] = await rows();
  const known = { candidates: [ada?.candidate_id ?? ''], jobCandidates: [], enrolments: [], employees: [] };
  const subject = await completeIds(store, 'acme', known);
  await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
  await erasePersonRows(store, subject);
  expect(await findPersonRows(store, subject)).toEqual([]);
  const before = await made();
  expect(await run('three')).toMatchObject({ state: 'done', counts: { created: 0, unchanged: 1 } });
  expect(await run('four', { full: true })).toMatchObject({ counts: { created: 0 } });
  expect(await made()).toEqual(before);
  expect((await rows()).map(({ resume_id: id }) => id)).toEqual(['ben.pdf']);
  expect((await reasons()).size).toBe(0);
});

/** The sandbox as a partner that counts the pages of a batch from 0, ten people each. */
async function batchesFromZero(sandboxUrl: string): Promise<string> {
  const origin = await serve(async (request, response) => {
    const { method = 'GET', headers } = request;
    const url = new URL(request.url ?? '', sandboxUrl);
    if (url.pathname.includes('/candidates/batch/')) {
      url.searchParams.set('page', String(Number(url.searchParams.get('page')) + 1));
      url.searchParams.set('perPage', '10');
    }
    const body = new Uint8Array(await buffer(request));
    const { authorization = '' } = headers;
    const answer = await fetch(url, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body.length === 0 ? {} : { body }),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  return `${origin}${new URL(sandboxUrl).pathname}`;
}

test.each([4, 15])('of a batch of %d files nobody is missed at a partner that counts from 0', async (files) => {
  const { once, list, rows, made, sandbox } = await resumeWorld({ between: batchesFromZero });
  list(...Array.from({ length: files }, (_, nth) => `person-${nth}.pdf`));
  await once('one');
  await sandbox.later(10_000);
  expect(await once('two')).toMatchObject({ state: 'refused' });
  expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(['taken']));
  expect(await made()).toMatchObject({ files, requests: 1 });
});

test('one question a batch asks who was erased, however many files it had', async () => {
  const { run, list, rows, sandbox, store } = await resumeWorld();
  list('ada-lovelace.pdf', 'grace-hopper.pdf', 'mary-jackson.pdf', 'alan-turing.pdf');
  await run('one');
  await sandbox.later(10_000);
  const asked = vi.spyOn(store.kysely, 'selectFrom');
  onTestFinished(() => asked.mockRestore());
  await run('two');
  expect((await rows()).map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
  // The other one is about the files that are listed.
  const tables = asked.mock.calls.map(([table]): unknown => table);
  expect(tables.filter((table) => table === 'person_mark_keys')).toHaveLength(2);
});

test('a file that was being read while its person was erased is not linked to them again', async () => {
  const { run, list, rows, sandbox, store } = await resumeWorld();
  const known = { candidate: { email: 'ada.lovelace@example.com', firstName: 'Ada' } };
  const { candidateId } = (await sandbox.control.act('addCandidate', known)) as { candidateId: number };
  list('ada-lovelace.pdf');
  await run('one');
  const ids = { candidates: [String(candidateId)], jobCandidates: [], enrolments: [], employees: [] };
  const subject = await completeIds(store, 'acme', ids);
  await askErasure(store, { subject, by: 'ann', reason: 'request', employee: 'keep' });
  await erasePersonRows(store, subject);
  await sandbox.later(10_000);
  expect(await run('two')).toMatchObject({ state: 'done' });
  expect(await rows()).toMatchObject([{ state: 'done', candidate_id: null }]);
  expect(await findPersonRows(store, subject)).toEqual([]);
});
