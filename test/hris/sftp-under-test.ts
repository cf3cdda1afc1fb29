import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type CustomerJob, type Decision, startCustomerJob } from '../../src/counterparts/customer-job.ts';
import { type SftpServer, startSftp } from '../../src/counterparts/start-sftp.ts';
import type { EmployeeFiles, HrisConnection, WriteOptions } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import type { HrisUnderTest, Powers } from '../../src/hris-kit/hris-under-test.ts';
import { until } from '../harness/until.ts';
import { startSshWire } from './counterparts/ssh-wire.ts';
import { employee, type HrisProfile, ownClock, sqlProfile } from './profile.ts';

export const sftpProfile: HrisProfile = { ...sqlProfile, foldsEveryLetter: true };

/** An SFTP server, and the customer's job behind it. */
export interface SftpHris {
  server: SftpServer;
  job: CustomerJob;
  open(changes?: Record<string, unknown>): Promise<HrisConnection>;
  /** Runs of the job, one after the other. */
  run(): Promise<void>;
  /** Employees over there. */
  count(): Promise<number>;
  /** Files in a folder. */
  list(folder: string): Promise<string[]>;
  /** Finished files, as the customer writes them. */
  put(folder: string, name: string, content: string | Buffer): Promise<void>;
  takeAway(folder: string, name: string): Promise<void>;
  stop(): Promise<void>;
}

async function startSftpHris(): Promise<SftpHris> {
  const server = await startSftp();
  const job = await startCustomerJob(server.root);
  await job.writeRoster();
  const { port, hostKey, privateKey, passphrase, root } = server;
  const options = { host: '127.0.0.1', port, user: 'root', hostKey, privateKey, passphrase, allowPrivateAddress: true };
  let running = Promise.resolve();
  return {
    server,
    job,
    open: (changes = {}) => openHris('sftp', 'test-hr', { ...options, ...changes }),
    run() {
      running = running.then(() => job.run());
      return running;
    },
    count: async () => Number((await job.sql<{ n: string }>('select count(*) as n from employee'))[0]?.n),
    list: async (folder) => (await readdir(join(root, folder))).toSorted(),
    async put(folder, name, content) {
      await writeFile(join(root, folder, name), content);
      await writeFile(join(root, folder, `${name}.ready`), '');
    },
    async takeAway(folder, name) {
      await rm(join(root, folder, name));
      await rm(join(root, folder, `${name}.ready`));
    },
    async stop() {
      await job.stop();
      await server.stop();
    },
  };
}

/** One for a file of tests, whose job makes whatever is asked for unless a test says otherwise. */
export function startedSftpHris(): () => SftpHris {
  let at: SftpHris;
  beforeAll(async () => {
    at = await startSftpHris();
  });
  afterAll(() => at?.stop());
  beforeEach(() => {
    at.job.decide = () => 'create';
  });
  return () => at;
}

export async function sftpUnderTest(): Promise<HrisUnderTest> {
  const hris = await startSftpHris();
  const decisions = new Map<string, Decision>();
  hris.job.decide = (id) => decisions.get(id) ?? (id.startsWith('hire-') ? 'wait' : 'create');
  const describedColumns = 'column,type,required\r\nshirt,text,no\r\n';
  await writeFile(join(hris.server.root, 'requests', 'columns.csv'), describedColumns);
  const custom = { endColumn: 'last_day', fields: { shirt: { column: 'shirt', label: 'Shirt size' } } };
  const [adapter, second] = await Promise.all([hris.open(custom), hris.open(custom)]);
  return {
    profile: sftpProfile,
    adapter: withChangesApplied(hris, adapter),
    second: withChangesApplied(hris, second),
    count: hris.count,
    powers: powersOf(hris, decisions),
    lacks: {
      webhooks: 'files are fetched: nobody calls us',
      http: 'it is SSH: there is no redirect and no page',
      tls: 'it is SSH: the host key is pinned, and another one is refused',
      amend: 'a request is carried out days later, over whatever stands there by then',
      staleUpdate: 'files carry no version; changes are applied in the order of their coming',
    },
    async stop() {
      await Promise.all([adapter.close(), second.close()]);
      await hris.stop();
    },
  };
}

/** A change is in the next roster, which is written at once here. */
function withChangesApplied(hris: SftpHris, connection: HrisConnection): HrisConnection {
  const { employees } = connection;
  const applied =
    <Args extends unknown[]>(ask: ((...args: Args) => Promise<void>) | undefined) =>
    async (...args: Args): Promise<void> => {
      await ask?.(...args);
      await hris.run();
    };
  const { update, rehire, terminate } = employees;
  const changes = { update: applied(update), rehire: applied(rehire), terminate: applied(terminate) };
  return { ...connection, employees: { ...employees, ...changes } };
}

function powersOf(hris: SftpHris, decisions: Map<string, Decision>): Partial<Powers> {
  const decide = (decision: Decision) => async (ticket: string) => {
    decisions.set(ticket, decision);
    await hris.run();
  };
  return {
    job: { finish: decide('create'), refuse: decide({ reject: 'cost centre unknown' }) },
    wire: () => openWire(hris, decisions),
    restart: () => hris.server.restart(),
    uniqueReference: true,
    ownClock,
    custom: { key: 'shirt', label: 'shirt', value: 'XL' },
    people: { add: (count) => addPeople(hris, count), touch: (ids) => touchPeople(hris, ids) },
    stored: (id, name) => readDocuments(hris, id, name),
    async wide() {
      const keys = Array.from({ length: 400 }, (_, n) => `extra${n}`);
      const fields = Object.fromEntries(keys.map((key) => [key, { column: key }]));
      const values = Object.fromEntries(keys.map((key, n) => [key, `value ${n}`]));
      return { adapter: await hris.open({ fields }), fields: { ...employee('wide'), ...values } };
    },
    async busy() {
      const wire = await startSshWire(hris.server.port);
      wire.isFull = true;
      const end = async () => void (wire.isFull = false);
      return { adapter: closing(await hris.open({ port: wire.port }), wire.close), end };
    },
    async revoke() {
      const adapter = await hris.open();
      const end = await hris.server.revoke();
      return { adapter, end };
    },
  };
}

async function addPeople({ job }: SftpHris, count: number): Promise<string[]> {
  const insert = 'insert into employee (given_name) select $1 from generate_series(1, $2) returning employee_id as id';
  const rows = await job.sql<{ id: string }>(insert, ['Imported', count]);
  await job.writeRoster();
  return rows.map(({ id }) => id);
}

async function touchPeople({ job }: SftpHris, ids: readonly string[]): Promise<void> {
  await job.sql("update employee set title = coalesce(title, '') || '+' where employee_id = any($1)", [ids]);
  await job.writeRoster();
}

/** What the job has filed. */
async function readDocuments(hris: SftpHris, id: string, name: string): Promise<Buffer[]> {
  await hris.run();
  const select = 'select bytes from document where employee_id = $1 and name = $2';
  return (await hris.job.sql<{ bytes: Buffer }>(select, [id, name])).map(({ bytes }) => bytes);
}

function closing(connection: HrisConnection, close: () => Promise<void>): HrisConnection {
  return { ...connection, close: () => connection.close().then(close) };
}

/** What is lost is the ready file: its deadline is the second that is looked at, after the note's. */
async function openWire(hris: SftpHris, decisions: Map<string, Decision>): ReturnType<Powers['wire']> {
  const wire = await startSshWire(hris.server.port);
  const connection = await hris.open({ port: wire.port });
  let arm: (() => void) | undefined;
  const atReadyFile = (write: WriteOptions): WriteOptions => {
    let looks = 0;
    const beforeSend = () => {
      write.beforeSend();
      looks += 1;
      if (looks === 2) arm?.();
    };
    return { ...write, beforeSend };
  };
  const readyRequests = async () => (await hris.list('requests')).filter((name) => name.endsWith('.ready'));
  const { employees, files } = connection;
  const create: typeof employees.create = (fields, reference, write) =>
    employees.create(fields, reference, atReadyFile(write));
  const deliver: EmployeeFiles['deliver'] = async (id, file, write) =>
    (await files?.deliver(id, file, atReadyFile(write))) ?? 'there';
  return {
    adapter: { ...connection, employees: { ...employees, create }, files: { deliver } },
    async strike(kind) {
      if (kind === 'cut') return wire.strike(kind);
      const before = new Set(await readyRequests());
      await new Promise<void>((struck) => {
        arm = () => void wire.strike(kind).then(struck);
      });
      arm = undefined;
      if (kind === 'reset-before') return;
      const isNew = (name: string) => !before.has(name);
      const [name = ''] = await until('the ready file to be there', async () => {
        const found = (await readyRequests()).filter(isNew);
        return found.length > 0 ? found : undefined;
      });
      decisions.set(name.split('.')[0] ?? '', 'create');
      await hris.run();
    },
    refusesLate: false,
    async close() {
      await connection.close();
      await wire.close();
    },
  };
}
