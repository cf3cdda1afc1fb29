import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { inScope, patient } from '../../../activities/activity-scope.ts';
import { shareReads } from '../../../activities/presence/fetch-job-candidates.ts';
import { ConnectorError } from '../../../src/errors.ts';

/** A read that ends when the test says so, and the looks each one was for. */
function controlled(most?: number) {
  const reads: { looks: readonly string[]; end: (how?: Error) => void }[] = [];
  const look = shareReads(
    (name: string) => name.charAt(0),
    (looks) =>
      new Promise<string[]>((resolve, reject) => {
        const nth = reads.length + 1;
        const end = (error?: Error): void =>
          error === undefined ? resolve(looks.map((one) => `${one} by read ${nth}`)) : reject(error);
        reads.push({ looks, end });
      }),
    most,
  );
  return { reads, look };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The same, asked by one of many activities of a tenant. */
function controlledByMany(most?: number) {
  const { reads, look } = controlled(most);
  const { signal } = new AbortController();
  const busy = Promise.withResolvers<void>();
  void inScope(signal, 'hooli', () => busy.promise);
  onTestFinished(() => busy.resolve());
  return { reads, look: (name: string) => inScope(signal, 'hooli', () => look(name)) };
}

/** Looks have gathered long enough, and all that follows without a read's end has happened. */
async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(100);
}

test('looks that wait at the same moment are answered by one read, each with its own answer', async () => {
  const { reads, look } = controlled();
  const answers = Promise.all([look('a1'), look('a2'), look('a3')]);
  await settled();
  expect(reads.map((read) => read.looks)).toEqual([['a1', 'a2', 'a3']]);
  reads[0]?.end();
  expect(await answers).toEqual(['a1 by read 1', 'a2 by read 1', 'a3 by read 1']);
});

test('a look asked while a read is under way is answered by the next one, which begins after it', async () => {
  const { reads, look } = controlled();
  const first = look('a1');
  await settled();
  const late = [look('a1'), look('a2')];
  await settled();
  expect(reads).toHaveLength(1);
  reads[0]?.end();
  expect(await first).toBe('a1 by read 1');
  await settled();
  expect(reads.map((read) => read.looks)).toEqual([['a1'], ['a1', 'a2']]);
  reads[1]?.end();
  expect(await Promise.all(late)).toEqual(['a1 by read 2', 'a2 by read 2']);
});

test('one read answers at most so many looks, and the rest follow', async () => {
  const { reads, look } = controlled(2);
  const answers = Promise.all(['a1', 'a2', 'a3'].map(look));
  await settled();
  reads[0]?.end();
  await settled();
  reads[1]?.end();
  expect(await answers).toEqual(['a1 by read 1', 'a2 by read 1', 'a3 by read 2']);
});

test('looks that come within moments of each other wait for one read', async () => {
  const { reads, look } = controlledByMany();
  void look('a1');
  await vi.advanceTimersByTimeAsync(10);
  void look('a2');
  await settled();
  expect(reads.map((read) => read.looks)).toEqual([['a1', 'a2']]);
});

test('the only activity of a tenant reads at once, and who comes meanwhile gathers for the next read', async () => {
  const { reads, look } = controlled();
  const { signal } = new AbortController();
  const first = inScope(signal, 'acme', () => look('a1'));
  await vi.advanceTimersByTimeAsync(1);
  expect(reads.map((read) => read.looks)).toEqual([['a1']]);
  const others = [inScope(signal, 'acme', () => look('a2')), inScope(signal, 'acme', () => look('a3'))];
  reads[0]?.end();
  await settled();
  expect(reads.map((read) => read.looks)).toEqual([['a1'], ['a2', 'a3']]);
  reads[1]?.end();
  expect(await Promise.all([first, ...others])).toEqual(['a1 by read 1', 'a2 by read 2', 'a3 by read 2']);
});

test('what the only activity of a tenant asks at once is one read', async () => {
  const { reads, look } = controlled();
  const answers = inScope(new AbortController().signal, 'stark', () => Promise.all(['a1', 'a2', 'a3'].map(look)));
  await vi.advanceTimersByTimeAsync(1);
  expect(reads.map((read) => read.looks)).toEqual([['a1', 'a2', 'a3']]);
  reads[0]?.end();
  expect(await answers).toEqual(['a1 by read 1', 'a2 by read 1', 'a3 by read 1']);
});

test('an activity beside another one of its tenant waits for the looks that come with it', async () => {
  const { reads, look } = controlled();
  const { signal } = new AbortController();
  const busy = Promise.withResolvers<string>();
  const other = inScope(signal, 'acme', () => busy.promise);
  const own = inScope(signal, 'acme', () => look('a1'));
  const alone = inScope(signal, 'globex', () => look('b1'));
  await vi.advanceTimersByTimeAsync(1);
  expect(reads.map((read) => read.looks)).toEqual([['b1']]);
  await settled();
  expect(reads.map((read) => read.looks)).toEqual([['b1'], ['a1']]);
  for (const read of reads) read.end();
  busy.resolve('done');
  expect(await Promise.all([other, own, alone])).toEqual(['done', 'a1 by read 2', 'b1 by read 1']);
});

test('who comes within a second of several waits for others, and a second later for nobody', async () => {
  const { reads, look } = controlled();
  const { signal } = new AbortController();
  const run = (name: string) => inScope(signal, 'initech', () => look(name));
  const burst = [run('a1'), run('a2')];
  for (const read of reads) read.end();
  await settled();
  for (const read of reads) read.end();
  await Promise.all(burst);
  const begun = reads.length;
  const next = run('a3');
  expect(reads).toHaveLength(begun);
  await settled();
  reads.at(-1)?.end();
  await next;
  await vi.advanceTimersByTimeAsync(1_001);
  const alone = run('a4');
  await vi.advanceTimersByTimeAsync(1);
  expect(reads.at(-1)?.looks).toEqual(['a4']);
  reads.at(-1)?.end();
  await alone;
});

test('looks of different keys do not wait for each other', async () => {
  const { reads, look } = controlled();
  void look('a1');
  const other = look('b1');
  await settled();
  reads.find((read) => read.looks[0] === 'b1')?.end();
  expect(await other).toMatch(/^b1/);
});

test('a failed read fails each of its looks and none of the next', async () => {
  const { reads, look } = controlled();
  const failing = Promise.allSettled([look('a1'), look('a2')]);
  await settled();
  const next = look('a3');
  reads[0]?.end(new Error('the partner is away'));
  expect((await failing).map((one) => one.status)).toEqual(['rejected', 'rejected']);
  await settled();
  reads[1]?.end();
  expect(await next).toBe('a3 by read 2');
});

test('a caller who does not wait any longer takes nothing from the others', async () => {
  const { reads, look } = controlled();
  const leaving = new AbortController();
  const left = new Promise((_, reject) => leaving.signal.addEventListener('abort', () => reject(new Error('left'))));
  const one = Promise.race([look('a1'), left]);
  const other = look('a2');
  await settled();
  leaving.abort();
  await expect(one).rejects.toThrow('left');
  reads[0]?.end();
  expect(await other).toBe('a2 by read 1');
});

test('a read whose answer is lost is repeated before it fails those who wait for it', async () => {
  const { reads, look } = controlled();
  const answers = Promise.all([look('a1'), look('a2')]);
  await settled();
  reads[0]?.end(new ConnectorError({ code: 'PARTNER_UNREACHABLE', action: 'retry', message: 'cut' }));
  await settled();
  reads[1]?.end();
  expect(await answers).toEqual(['a1 by read 2', 'a2 by read 2']);
});

test.each([
  ['refused', { action: 'reject' as const }],
  ['told when to come back', { action: 'retry' as const, retryAfterMs: 5_000 }],
])('a read that is %s is not repeated', async (_how, facts) => {
  const { reads, look } = controlled();
  const failed = look('a1').catch(String);
  await settled();
  reads[0]?.end(new ConnectorError({ code: 'NO', message: 'no', ...facts }));
  expect(await failed).toContain('no');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reads).toHaveLength(1);
});

test('a read that fails three times fails', async () => {
  const { reads, look } = controlled();
  const failed = look('a1').catch(String);
  for (const nth of [0, 1, 2]) {
    await vi.advanceTimersByTimeAsync(300);
    reads[nth]?.end(new ConnectorError({ code: 'PARTNER_UNREACHABLE', action: 'retry', message: 'cut' }));
  }
  expect(await failed).toContain('cut');
  expect(reads).toHaveLength(3);
});

test('every activity of a shared read has called: none gives up its next permit where permits are rare', async () => {
  const { reads, look } = controlled();
  const patientFor20s = patient({
    acquire: (_priority, signal) =>
      new Promise((resolve, reject) => {
        setTimeout(resolve, 12_000);
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      }),
    answered: () => undefined,
    waitMs: () => 0,
    perSecond: () => 0.4,
  });
  const hire = (name: string): Promise<void> =>
    inScope(new AbortController().signal, 'acme', async () => {
      await look(name);
      await patientFor20s.acquire('live');
    });
  const ended = Promise.allSettled([hire('a1'), hire('a2')]);
  await settled();
  reads[0]?.end();
  await vi.advanceTimersByTimeAsync(12_000);
  expect((await ended).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
});
