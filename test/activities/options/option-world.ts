import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import type { OpenTenant } from '../../../src/operator/open-tenant.ts';
import { planStreams } from '../../../src/operator/plan-streams.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { resumeStream } from '../../../src/store/stream-states.ts';
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
  hr.exec('create table departments (id integer primary key autoincrement, name text, open integer default 1)');
  const facts = { storeUrl: `sqlite:${join(dir, 'store.db')}`, hrUrl: `sqlite:${join(dir, 'hr.db')}`, fieldId };
  const points = failpoints();
  const { deps, tenant, connection, close } = await openOptionRun({
    ...facts,
    partner: killablePartner(sandbox, points),
    pass: points.pass,
  });
  onTestFinished(close);
  return {
    ...facts,
    sandbox,
    points,
    store: deps.store,
    hr: {
      add: (name: string) => Number(hr.prepare('insert into departments (name) values (?)').run(name).lastInsertRowid),
      rename: (id: number, name: string) => hr.prepare('update departments set name = ? where id = ?').run(name, id),
      close: (id: number) => hr.prepare('update departments set open = 0 where id = ?').run(id),
      names: () =>
        hr
          .prepare('select name from departments where open = 1')
          .all()
          .map((row) => String(row['name'])),
    },
    run: (runId: string) => pushOnce(deps, runId),
    resume: () => resumeStream(deps.store, KEY, 'ada'),
    async options() {
      return (await partner.customFields.get({ params: { customFieldId: fieldId } })).data.options ?? [];
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
    withoutOptions: () => void Reflect.deleteProperty(tenant, 'options'),
    calls: async () => (await sandbox.control.ledger({ kind: 'request' })).length,
    effects: async () => (await sandbox.control.ledger({ kind: 'effect' })).length,
  };
}
