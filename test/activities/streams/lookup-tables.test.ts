import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { readLookupRows } from '../../../src/store/lookup-rows.ts';
import { readQuarantine } from '../../../src/store/quarantine.ts';
import { countWrites } from '../../stream/count-writes.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

const EVERY = '{ users: { every: 1h }, teams: { every: 1h }, pipelines: { every: 1h }, stages: { every: 1h } }';
const JOBS_BY_PIPELINE = `{ pipelines: { every: 1h }, jobs: { every: 1h, mapping: acme-jobs.yaml } }`;

async function rowsOf({ store }: PullWorld, stream: string): Promise<Record<string, unknown>> {
  const rows = await readLookupRows(store, { tenantId: 'acme', stream });
  return Object.fromEntries(rows.map(({ id, fields }) => [id, fields]));
}

describe('a lookup table', () => {
  test('is what the partner shows, whatever envelope and paging its list has', async () => {
    const opened = await openPullWorld(EVERY);
    const { partner, control } = opened.world;
    await control.act('createTeam', { name: 'Warehouse' });
    for (let index = 0; index < 130; index += 1)
      await control.act('inviteUser', {
        email: `user-${index}@acme.example`,
        firstName: 'Ada',
        lastName: `No ${index}`,
      });
    for (const stream of ['users', 'teams', 'pipelines', 'stages', 'flows'] as const)
      expect(await opened.pull('incremental', { stream })).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
    const { items: users } = await partner.readAll(contract.users.list);
    expect(users.length).toBeGreaterThan(130);
    expect(Object.keys(await rowsOf(opened, 'users')).toSorted()).toEqual(users.map(({ id }) => id).toSorted());
    const { items: pipelines } = await partner.readAll(contract.pipelines.list);
    expect(await rowsOf(opened, 'stages')).toEqual(
      Object.fromEntries(
        pipelines.flatMap(({ id: pipelineId, stages }) =>
          stages.map(({ id, name, type }, index) => [id, { name, type, pipelineId, order: String(index + 1) }]),
        ),
      ),
    );
    const { items: teams } = await partner.readAll(contract.teams.list);
    expect(Object.keys(await rowsOf(opened, 'teams')).toSorted()).toEqual(teams.map(({ id }) => id).toSorted());
    const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
    expect(Object.keys(await rowsOf(opened, 'flows')).toSorted()).toEqual(flows.map(({ flowId }) => flowId).toSorted());
  });

  test('follows renames with the next pass, and what two passes missed is gone from it', async () => {
    const opened = await openPullWorld(EVERY);
    const { partner } = opened.world;
    await opened.pull('incremental', { stream: 'stages' });
    const { items } = await partner.readAll(contract.pipelines.list);
    const [pipeline] = items;
    const ends = ['SCREEN', 'SHORTLISTED'].map((type) => pipeline?.stages.find((stage) => stage.type === type)?.id);
    const [screen = '', shortlist = ''] = ends;
    await partner.pipelines.saveStage({
      body: { pipelineId: Number(pipeline?.id), stageId: Number(shortlist), name: 'Final round' },
    });
    await partner.pipelines.deleteStage({
      params: { stageId: Number(screen) },
      body: { pipelineId: Number(pipeline?.id), newStageId: Number(shortlist) },
    });
    const first = await opened.pull('incremental', { stream: 'stages' });
    expect(first).toMatchObject({ state: 'done', counts: { created: 0 } });
    expect((await rowsOf(opened, 'stages'))[shortlist]).toMatchObject({ name: 'Final round' });
    expect(Object.keys(await rowsOf(opened, 'stages'))).toContain(screen);
    await opened.pull('incremental', { stream: 'stages' });
    expect(Object.keys(await rowsOf(opened, 'stages'))).not.toContain(screen);
  });

  test('costs a still pass its calls alone, and is no foreign write', async () => {
    const { world, store, pull, calls } = await openPullWorld(EVERY);
    await pull('incremental', { stream: 'users' });
    const writes = countWrites(world.storeUrl.slice('sqlite:'.length));
    writes.take();
    const before = await calls('users.list');
    expect(await pull('incremental', { stream: 'users' })).toMatchObject({ counts: { created: 0, updated: 0 } });
    expect((await calls('users.list')) - before).toBe(1);
    expect(writes.take()['lookup_rows'] ?? 0).toBe(0);
    const { count } = await store.kysely
      .selectFrom('foreign_writes')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(0);
  });

  test('is read for a tenant that only observes', async () => {
    const opened = await openPullWorld(EVERY);
    const file = join(opened.world.tenantsDir, 'acme.yaml');
    await writeFile(file, `mode: observe\n${await readFile(file, 'utf8')}`);
    expect(await opened.pull('incremental', { stream: 'teams' })).toMatchObject({ state: 'done' });
  });
});

describe('a mapping that looks values up', () => {
  async function openJobs(): Promise<PullWorld> {
    const opened = await openPullWorld(JOBS_BY_PIPELINE, { jobs: 4 });
    const mapping = 'fields:\n  city: { from: job.pipelineId, table: pipelines.name }\n';
    await writeFile(join(opened.world.tenantsDir, 'acme-jobs.yaml'), mapping);
    return opened;
  }

  test('waits until the table was read', async () => {
    const { pull, rows } = await openJobs();
    await expect(pull('full', { stream: 'jobs' })).rejects.toMatchObject({ code: 'TABLE_NOT_READ', action: 'retry' });
    expect(rows('jobs').size).toBe(0);
  });

  test('asks the partner for nothing that the table knows', async () => {
    const { world, pull, rows, calls } = await openJobs();
    await pull('incremental', { stream: 'pipelines' });
    const before = await calls('pipelines.list');
    expect(await pull('full', { stream: 'jobs' })).toMatchObject({ state: 'done', counts: { created: 4 } });
    expect((await calls('pipelines.list')) - before).toBe(0);
    const { items } = await world.partner.readAll(contract.pipelines.list);
    const names = items.map(({ name }) => name);
    for (const row of rows('jobs').values()) expect(names).toContain(row['city']);
  });

  test('leaves a record out by name while the table lacks what it names, and lands it then', async () => {
    const { store, pull, rows } = await openJobs();
    await pull('incremental', { stream: 'pipelines' });
    await store.kysely.deleteFrom('lookup_rows').execute();
    const left = await pull('full', { stream: 'jobs' });
    expect(left).toMatchObject({ state: 'partial', counts: { created: 0, quarantined: 4 } });
    const [one] = await readQuarantine(store, { tenantId: 'acme', stream: 'jobs' });
    expect(one?.reason).toContain('hirebridge sync TENANT pipelines [NOT_IN_TABLE]');
    expect(rows('jobs').size).toBe(0);
    await pull('incremental', { stream: 'pipelines' });
    expect(await pull('full', { stream: 'jobs' })).toMatchObject({ state: 'done', counts: { created: 4 } });
    expect(await readQuarantine(store, { tenantId: 'acme', stream: 'jobs' })).toEqual([]);
  });
});
