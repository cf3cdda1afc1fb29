import { readFile } from 'node:fs/promises';
import { setInterval } from 'node:timers/promises';
import { readStatus } from '../harness/hiring.ts';
import { until } from '../harness/until.ts';
import { idleMegabytes, peakMegabytes } from '../stream/resident-memory.ts';
import { withPostgresWorld, withTemporal } from './bench-world.ts';
import { type Bench, openLedger } from './measured.ts';

/** What a worker holds while it pulls a long list for the first time. */
export const memory: Bench = {
  name: 'memory',
  leavesOut: 'the memory of Postgres, Temporal and sandbox. One round, however many are asked for.',
  measure: ({ quick, say }) =>
    withTemporal((temporalAddress) => {
      const candidates = quick ? 20_000 : 1_000_000;
      return withPostgresWorld({ temporalAddress, candidates }, async ({ world }) => {
        const ledger = openLedger('memory');
        const worker = await world.startWorker();
        await until('the baseline is complete', async () => (await readStatus(world)).baseline === 'done');
        const pid = worker.child.pid ?? 0;
        const idle = await idleMegabytes(pid);
        const ended = new AbortController();
        const samples = sampleMegabytes(pid, ended.signal);
        const { code } = await world.cli(['sync', 'acme', 'candidates', '--full']);
        ended.abort();
        const values = await samples;
        say(`${candidates} candidates, sync ended with ${code} after ${values.length} s`);
        ledger.add('idle', 'MB', idle);
        ledger.add(`peak over idle, ${candidates} candidates`, 'MB', (await peakMegabytes(pid)) - idle, {
          goal: { most: 80 },
        });
        const curve = { title: `resident memory of the worker, ${candidates} candidates`, unit: 'MB', values };
        return { measured: ledger.measured(), curves: [curve] };
      });
    }),
};

/** Once a second until the signal. */
async function sampleMegabytes(pid: number, signal: AbortSignal): Promise<number[]> {
  const samples: number[] = [];
  try {
    for await (const _tick of setInterval(1000, undefined, { signal })) samples.push(await residentMegabytes(pid));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return samples;
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}
