import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findTenant } from '../../../src/operator/open-tenant.ts';
import { resumeStream } from '../../../src/store/streams.ts';
import type { LimitCode } from '../../../src/streams/change-limits.ts';
import { alarmsOf } from '../alarms-of.ts';
import { openPullWorld, type PullWorld } from './pull-world.ts';

const KEY = { tenantId: 'acme', stream: 'candidates' };
const PEOPLE = 60;

/** What happens at the partner, after a whole pass that was as it should be. */
const BROKEN: Record<LimitCode, (played: PullWorld) => Promise<void>> = {
  ZERO_ROWS: deleteEverybody,
  // An empty list is believed when a person says so; that everybody may be deleted is another question.
  MASS_DELETE: async (played) => {
    await deleteEverybody(played);
    await played.pull('full');
    await resumeStream(played.store, KEY, 'jo');
  },
  MASS_CHANGE: (played) => editEverybody(played, 'Rome'),
  FILL_RATE_FELL: (played) => editEverybody(played, ''),
  PERMISSION_LOST: refuseTheList,
};

test.each(Object.entries(BROKEN))(
  '%s is an alarm in the next round of chores, and it names the cure',
  async (code, breakIt) => {
    const played = await openPullWorld('{ candidates: { every: 1h, deletion: delete } }', { candidates: PEOPLE });
    const { world, store, pull } = played;
    const alarms = async () => alarmsOf(store, await findTenant(store, world.tenantsDir, 'acme'));
    expect(await pull('full')).toMatchObject({ state: 'done' });
    expect(await alarms()).toEqual([]);
    await breakIt(played);
    expect(await pull('full')).toMatchObject({ state: 'refused', code });
    const cure = expect.stringContaining('hirebridge resume acme candidates') as string;
    expect(await alarms()).toEqual([{ subject: 'stream candidates', reason: code, message: cure }]);
  },
);

async function deleteEverybody({ world, rows }: PullWorld): Promise<void> {
  await world.control.act('deleteCandidate', { candidateIds: [...rows().keys()].map(Number) });
}

async function editEverybody({ world, rows }: PullWorld, city: string): Promise<void> {
  for (const id of rows().keys())
    await world.control.act('editCandidate', { candidateId: Number(id), fields: { city } });
}

/** From now on the key may read nothing. The specification names no code for that (assumed): only 403 counts. */
async function refuseTheList({ world }: PullWorld): Promise<void> {
  const error = { code: 'KEY_LACKS_PERMISSION', type: 'authorization_error', message: 'The key lacks a permission.' };
  const server = createServer((_request, response) => {
    response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify({ success: false, error }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const file = join(world.tenantsDir, 'acme.yaml');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/partner`;
  await writeFile(file, (await readFile(file, 'utf8')).replace(/baseUrl: .*/, `baseUrl: ${address}`));
}
