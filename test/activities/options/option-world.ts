import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { ConnectorError } from '../../../src/errors.ts';
import type { OpenTenant } from '../../../src/operator/open-tenant.ts';
import { planStreams } from '../../../src/operator/plan-streams.ts';
import type { PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { listWrites } from '../../../src/store/foreign-writes.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { failpoints, killablePartner } from '../killable.ts';
import { KEY, openOptionRun, pushOnce } from './option-run.ts';

interface Asked {
  jobs?: number;
  candidates?: number;
  entityType?: 'job' | 'candidate';
  fieldType?: 'select' | 'multi-select' | 'text';
  /** Options before the first pass. */
  options?: string[];
}

/** Departments of an HR system in a real database, a real partner over sockets, and a store on disk. */
export async function optionWorld(asked: Asked = {}) {
  const { jobs = 3, candidates = 0, entityType = 'job', fieldType = 'select', options = ['Kitchen'] } = asked;
  const sandbox = await openSandbox({ jobs, candidates });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const { partner } = sandbox;
  const parentSection = entityType === 'job' ? 'Job Overview' : 'Miscellaneous';
  const given = fieldType === 'text' ? {} : { options };
  const body = { entityType, fieldLabel: 'Department', fieldType, parentSection, ...given };
  const fieldId = String((await partner.customFields.create({ body })).data.id);
  const dir = await scratchFolder();
  const hr = new DatabaseSync(join(dir, 'hr.db'));
  onTestFinished(() => hr.close());
  for (const table of ['departments', 'sites'])
    hr.exec(`create table ${table} (id integer primary key autoincrement, name text, open integer default 1)`);
  const facts = { storeUrl: `sqlite:${join(dir, 'store.db')}`, hrUrl: `sqlite:${join(dir, 'hr.db')}`, fieldId };
  const points = failpoints();
  /** What somebody else does, or an answer shows, around a call. */
  const meanwhile: { at?: (point: string) => Promise<void>; seen?: (operation: string, answer: unknown) => void } = {};
  const pass = (point: string): void | Promise<void> => {
    points.pass(point);
    return meanwhile.at?.(point);
  };
  const killable = killablePartner(sandbox, { pass }, (operation, answer) => meanwhile.seen?.(operation, answer));
  /** Records whose values the partner refuses, and every request with one of them. */
  const refused = new Set<string>();
  const upsertBulk: PartnerClient['customFieldValues']['upsertBulk'] = async (input, options) => {
    const error = { code: 'INVALID_REQUEST', action: 'reject', message: 'refused', status: 400 } as const;
    if (input.body.some(({ entityId }) => refused.has(String(entityId)))) throw new ConnectorError(error);
    return killable.customFieldValues.upsertBulk(input, options);
  };
  const { deps, tenant, connection, close } = await openOptionRun({
    ...facts,
    partner: { ...killable, customFieldValues: { ...killable.customFieldValues, upsertBulk } },
    pass: points.pass,
  });
  onTestFinished(close);
  return {
    ...facts,
    sandbox,
    points,
    meanwhile,
    refused,
    store: deps.store,
    hr: {
      add: (name: string, table = 'departments') =>
        Number(hr.prepare(`insert into ${table} (name) values (?)`).run(name).lastInsertRowid),
      rename: (id: number, name: string, table = 'departments') =>
        hr.prepare(`update ${table} set name = ? where id = ?`).run(name, id),
      close: (id: number, table = 'departments') => hr.prepare(`update ${table} set open = 0 where id = ?`).run(id),
      names: () =>
        hr
          .prepare('select name from departments where open = 1')
          .all()
          .map((row) => String(row['name'])),
    },
    run: (runId: string, how = {}) => pushOnce(deps, runId, how),
    resume: () => resumeStream(deps.store, KEY, 'ada'),
    async options(customFieldId = fieldId) {
      return (await partner.customFields.get({ params: { customFieldId } })).data.options ?? [];
    },
    /** A second field, of the list of sites. */
    async addSites(sites: string[]): Promise<string> {
      const { data } = await partner.customFields.create({
        body: { ...body, fieldType: 'select', fieldLabel: 'Site', options: sites },
      });
      tenant.options.push({ customField: String(data.id), list: 'sites' });
      return String(data.id);
    },
    /** So many of the jobs hold this. */
    async holdInJobs(value: string, count: number): Promise<void> {
      const { items } = await partner.readAll(contract.jobs.list, {});
      const values = items
        .slice(0, count)
        .map(({ id }) => ({ customFieldId: fieldId, entityType, entityId: id, value }));
      await partner.inChunks(contract.customFieldValues.upsertBulk, { body: values });
    },
    hold: (entityId: number | string, value: string | string[], parent: object = {}) =>
      partner.customFieldValues.upsert({ body: { customFieldId: fieldId, entityType, entityId, value, ...parent } }),
    /** What each job holds, by the partner's own list. */
    async held(): Promise<Map<string, string>> {
      const { items } = await partner.readAll(contract.jobs.list, {});
      return new Map(items.map(({ id, customFields }) => [String(id), String(customFields?.[fieldId]?.value ?? '')]));
    },
    plan: async () => {
      const open = { store: deps.store, tenant, connection, deps } as unknown as OpenTenant;
      return (await planStreams(open, 'options', 'ada'))[0];
    },
    withoutField: () => void tenant.options.shift(),
    /** Another list for the field, or another HR system with a list of the same name. */
    follow: (list: string, connection: string) =>
      void Object.assign(tenant, { options: [{ customField: fieldId, list }], hris: { ...tenant.hris, connection } }),
    withoutOptions: () => void Reflect.deleteProperty(tenant, 'options'),
    calls: async () => (await sandbox.control.ledger({ kind: 'request' })).length,
    /** Records that the write log tells of, by target and outcome. */
    outcomes: async () =>
      (await listWrites(deps.store, { tenantId: KEY.tenantId })).map(({ target, outcome }) => `${target} ${outcome}`),
    effects: async () => (await sandbox.control.ledger({ kind: 'effect' })).length,
  };
}
