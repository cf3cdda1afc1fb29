import { Presets, SingleBar } from 'cli-progress';
import type { StreamRow } from '../../store/schema.ts';

type Row = Pick<StreamRow, 'seen' | 'total' | 'created' | 'updated' | 'quarantined'>;

/** Where a run's progress is shown: a bar on a terminal, a line every ten seconds anywhere else. */
export interface Progress {
  show(row: Row, perSecond?: number): void;
  /** Leaves the last state on the screen. */
  stop(): void;
}

const LINE_EVERY_MS = 10_000;
/** The rate is that of the last so many milliseconds. */
const RATE_OVER_MS = 10_000;

export function createProgress(name: string): Progress {
  const rate = createRate();
  return process.stderr.isTTY ? createBar(name, rate) : createLines(name, rate);
}

function createBar(name: string, rate: Rate): Progress {
  const format = `${name} {bar} {value}/{total}  {rate} records/s, {left} left, {rateLimit}`;
  const bar = new SingleBar(
    { format, barsize: 24, hideCursor: true, clearOnComplete: false, stream: process.stderr },
    Presets.shades_classic,
  );
  let started = false;
  return {
    show(row, rateLimit) {
      const facts = factsOf(row, rate(row.seen), rateLimit);
      if (!started) bar.start(row.total ?? row.seen, row.seen, facts);
      started = true;
      bar.setTotal(row.total ?? row.seen);
      bar.update(row.seen, facts);
    },
    stop: () => bar.stop(),
  };
}

function createLines(name: string, rate: Rate): Progress {
  let next = 0;
  return {
    show(row, rateLimit) {
      const perSecond = rate(row.seen);
      if (performance.now() < next) return;
      next = performance.now() + LINE_EVERY_MS;
      const facts = factsOf(row, perSecond, rateLimit);
      process.stderr.write(
        `${name} ${row.seen}/${row.total ?? '?'} records, ${facts.rate}/s, ${facts.left} left, ${facts.rateLimit}\n`,
      );
    },
    stop: () => undefined,
  };
}

function factsOf({ seen, total }: Row, perSecond: number, rateLimit: number | undefined) {
  const left = total === null || perSecond <= 0 ? '?' : `${Math.ceil((total - seen) / perSecond)} s`;
  return {
    rate: perSecond.toFixed(0),
    left,
    rateLimit: rateLimit === undefined ? 'no rate limit yet' : `rate limit ${rateLimit.toFixed(1)} calls/s`,
  };
}

type Rate = (seen: number) => number;

/** Records a second over the last while. */
function createRate(): Rate {
  let points: { at: number; seen: number }[] = [];
  return (seen) => {
    const at = performance.now();
    points = [...points.filter((point) => point.at > at - RATE_OVER_MS), { at, seen }];
    const [first] = points;
    return first === undefined || at - first.at < 100 ? 0 : ((seen - first.seen) * 1000) / (at - first.at);
  };
}
