import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { type OnceOptions, type Seen, writeOnce } from '../../../activities/hire/write-once.ts';
import { ConnectorError, type ErrorAction } from '../../../src/errors.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { latestIntent } from '../../../src/store/intents.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { freshStore, type kinds } from '../../store/stores.ts';

const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 1 };
const VERB = 'create-employee';
const GIVE_UP = 5_000;
const LAG = 1_000;

interface Written {
  id: string;
}

type Pinned = { name: string };

class Killed extends Error {}

/** A foreign system that holds what was sent to it, and a store whose clock the test moves. */
async function scripted(kind: (typeof kinds)[number] = 'sqlite') {
  const { store, other } = await freshStore(kind);
  const clock = { at: 1_000_000 };
  const timed = new Proxy(store, {
    get: (target, name) => (name === 'now' ? sql<number>`cast(${clock.at} as bigint)` : Reflect.get(target, name)),
  }) as Store;
  await insertHires(timed, [{ ...ref, state: 'open' }]);
  const system = { records: [] as string[], sends: 0, looks: 0, provable: true };
  const options: OnceOptions<Written, Pinned> = {
    store: timed,
    key: ref,
    verb: VERB,
    pinned: () => ({ name: 'first' }),
    giveUpMs: GIVE_UP,
    readLagMs: LAG,
    sinceRead: () => 0,
    note: async () => undefined,
    look: async (): Promise<Seen<Written>> => {
      system.looks += 1;
      const [id] = system.records;
      if (id !== undefined) return { kind: 'found', value: { id } };
      return system.provable ? { kind: 'absent' } : { kind: 'unprovable', hits: ['9'] };
    },
    send: async ({ name }, { beforeSend }) => {
      beforeSend();
      system.sends += 1;
      system.records.push(name);
      return { id: name };
    },
  };
  const run = (change: Partial<typeof options> = {}) => writeOnce({ ...options, ...change });
  return { clock, system, run, send: options.send, store: timed, other, latest: () => latestIntent(timed, ref, VERB) };
}

function failsWith(action: ErrorAction): () => Promise<never> {
  return () => Promise.reject(new ConnectorError({ code: 'SCRIPTED', action, message: 'as scripted' }));
}

test('what is absent is written once, and a repeat adopts it without a look', async () => {
  const { run, system, latest } = await scripted();
  expect(await run()).toEqual({ kind: 'made', value: { id: 'first' } });
  expect(await latest()).toMatchObject({ attempt: 1, outcome: 'done' });
  expect(await run()).toEqual({ kind: 'adopted', value: { id: 'first' } });
  expect(system).toMatchObject({ sends: 1, looks: 1 });
});

test('what is found is adopted, and no intent is needed', async () => {
  const { run, system, latest } = await scripted();
  system.records.push('there');
  expect(await run()).toEqual({ kind: 'adopted', value: { id: 'there' } });
  expect(await latest()).toBeUndefined();
  expect(system.sends).toBe(0);
});

test('a first attempt goes ahead where absence cannot be proven: nothing of ours has left', async () => {
  const { run, system } = await scripted();
  system.provable = false;
  expect(await run()).toMatchObject({ kind: 'made' });
});

test('a lost answer is unknown; it is waited for until deadline and lag have passed, and then sent anew', async () => {
  const { run, system, clock, latest } = await scripted();
  await expect(run({ send: failsWith('unknown') })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(await latest()).toMatchObject({ attempt: 1, outcome: 'open' });
  await expect(run()).rejects.toMatchObject({ action: 'unknown', retryAfterMs: GIVE_UP + LAG + 50 });
  clock.at += GIVE_UP + LAG - 1;
  await expect(run()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(system.sends).toBe(0);
  clock.at += 1;
  expect(await run()).toMatchObject({ kind: 'made' });
  expect(await latest()).toMatchObject({ attempt: 2, outcome: 'done' });
});

test('a lost answer to a write that worked is adopted at once', async () => {
  const { run, system, latest } = await scripted();
  await expect(run({ send: failsWith('unknown') })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  system.records.push('made');
  expect(await run()).toEqual({ kind: 'adopted', value: { id: 'made' } });
  expect(await latest()).toMatchObject({ attempt: 1, outcome: 'done' });
  expect(system.sends).toBe(0);
});

test('after the deadline an unprovable look asks a person, and nothing is sent', async () => {
  const { run, system, clock, latest } = await scripted();
  await expect(run({ send: failsWith('unknown') })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.at += GIVE_UP + LAG;
  system.provable = false;
  expect(await run()).toEqual({ kind: 'unprovable', hits: ['9'] });
  expect(await latest()).toMatchObject({ attempt: 1, outcome: 'open' });
  expect(system.sends).toBe(0);
});

test('a reading that is too old stops the write directly before it leaves', async () => {
  const { run, system, latest } = await scripted();
  await expect(run({ sinceRead: () => 2 * GIVE_UP })).rejects.toMatchObject({ code: 'DEADLINE_PASSED' });
  expect(system.sends).toBe(0);
  expect(await latest()).toMatchObject({ outcome: 'absent' });
  expect(await run()).toMatchObject({ kind: 'made' });
});

test.each(['reject', 'ignore'] as const)(
  'a refusal (%s) is told, and the next attempt is made of new values',
  async (action) => {
    const { run, system, latest } = await scripted();
    expect(await run({ send: failsWith(action) })).toMatchObject({ kind: 'refused', error: { code: 'SCRIPTED' } });
    expect(await latest()).toMatchObject({ attempt: 1, outcome: 'refused' });
    expect(await run({ pinned: () => ({ name: 'corrected' }) })).toMatchObject({ kind: 'made' });
    expect(system.records).toEqual(['corrected']);
  },
);

test.each(['retry', 'throttle'] as const)(
  'an error that says nothing happened (%s) leaves the way free',
  async (action) => {
    const { run, system, latest } = await scripted();
    await expect(run({ send: failsWith(action) })).rejects.toMatchObject({ action });
    expect(await latest()).toMatchObject({ attempt: 1, outcome: 'absent' });
    expect(await run({ pinned: () => ({ name: 'later' }) })).toMatchObject({ kind: 'made' });
    // What may have been tried keeps its form, so that it can be recognised.
    expect(system.records).toEqual(['first']);
  },
);

test('killed before the intent: the next run makes it', async () => {
  const { run, system, latest } = await scripted();
  await expect(run({ look: () => Promise.reject(new Killed()) })).rejects.toThrow(Killed);
  expect(await latest()).toBeUndefined();
  expect(await run()).toMatchObject({ kind: 'made' });
  expect(system.sends).toBe(1);
});

test('killed between intent and call: nothing is sent before the deadline, then once', async () => {
  const { run, system, clock } = await scripted();
  await expect(run({ send: () => Promise.reject(new Killed()) })).rejects.toThrow(Killed);
  await expect(run()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.at += GIVE_UP + LAG;
  expect(await run()).toMatchObject({ kind: 'made' });
  expect(system.sends).toBe(1);
});

test('killed between call and outcome: the look finds what was written', async () => {
  const { run, send, system, latest } = await scripted();
  const killedAfter: typeof send = async (pinned, guard) => {
    await send(pinned, guard);
    throw new Killed();
  };
  await expect(run({ send: killedAfter })).rejects.toThrow(Killed);
  expect(await run()).toEqual({ kind: 'adopted', value: { id: 'first' } });
  expect(await latest()).toMatchObject({ outcome: 'done' });
  expect(system.sends).toBe(1);
});

test('what was written while the store failed stays open: it is looked up, and never counts as absent', async () => {
  const { run, send, system, other, clock, latest } = await scripted('postgres');
  let failing: Promise<void> | undefined;
  const whileStoreFails: typeof send = async (pinned, guard) => {
    const made = await send(pinned, guard);
    failing = endNextWrite(other);
    await intentsLocked(other);
    return made;
  };
  await expect(run({ send: whileStoreFails })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', action: 'unknown' });
  await failing;
  expect(await latest()).toMatchObject({ attempt: 1, outcome: 'open' });
  // The HR system shows it late.
  const [name = ''] = system.records.splice(0);
  await expect(run()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  clock.at += GIVE_UP;
  system.records.push(name);
  expect(await run()).toEqual({ kind: 'adopted', value: { id: 'first' } });
  expect(system.sends).toBe(1);
});

/** Ends the session of the next write of an outcome, as an administrator or a failover does, and no other. */
async function endNextWrite({ kysely }: Store): Promise<void> {
  await kysely.transaction().execute(async (trx) => {
    await sql`lock table intents in share mode`.execute(trx);
    const waiting = sql<{ ended: boolean }>`select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'update "intents"%'`;
    // A transaction sees the sessions as they were when it first looked.
    while ((await waiting.execute(kysely)).rows.length === 0) await pause(20);
  });
}

async function intentsLocked({ kysely }: Store): Promise<void> {
  const held = sql`select 1 from pg_locks where relation = 'intents'::regclass and mode = 'ShareLock' and granted`;
  while ((await held.execute(kysely)).rows.length === 0) await pause(20);
}

test('of two executions of one attempt only one sends', async () => {
  const { run, system } = await scripted();
  let overtaken: unknown;
  const look = async (): Promise<Seen<Written>> => {
    overtaken ??= await run();
    return { kind: 'absent' };
  };
  await expect(run({ look })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(overtaken).toMatchObject({ kind: 'made' });
  expect(system.sends).toBe(1);
});

test('a hire that ended meanwhile writes nothing', async () => {
  const { run, system, store } = await scripted();
  await endHire(store, ref, 'left');
  await expect(run()).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(system.sends).toBe(0);
});
