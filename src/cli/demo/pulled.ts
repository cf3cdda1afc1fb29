import { setTimeout as pause } from 'node:timers/promises';
import { pullStreams } from '../../streams/streams.ts';
import { demoStreams } from './demo-files.ts';
import type { HrisTables } from './hris-tables.ts';
import type { Stage } from './stage.ts';

/** Records of each stream: those the partner has, and those that stand in the HRIS's landing table. */
export type Pulled = Record<DemoStream, { partner: number; hris: number }>;

type DemoStream = (typeof demoStreams)[number];

const PATIENCE_MS = 60_000;

/** Waits until every stream has brought what the partner has, or patience ends. */
export async function untilPulled({ partner: client }: Stage, tables: HrisTables, stop: AbortSignal): Promise<Pulled> {
  const lists = await Promise.all(demoStreams.map((name) => client.readAll(pullStreams[name].list, {})));
  const partner = new Map<DemoStream, number>(
    demoStreams.map((name, index) => [name, lists[index]?.items.length ?? 0]),
  );
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const countOf = async (name: DemoStream) => ({
      partner: partner.get(name) ?? 0,
      hris: await tables.count(`partner_${name}`),
    });
    const pulled = { candidates: await countOf('candidates'), jobs: await countOf('jobs') };
    if (isPulled(pulled) || stop.aborted || performance.now() > until) return pulled;
    await pause(200);
  }
}

export function isPulled(pulled: Partial<Pulled>): boolean {
  return Object.values(pulled).every(({ partner, hris }) => partner === hris && partner > 0);
}
