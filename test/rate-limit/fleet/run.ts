import { parseArgs } from 'node:util';
import { renderTable } from '../../../src/cli/table.ts';
import { type RateLimitResult, type RateLimitTrial, tryRateLimit } from './measure-rate-limit.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '180' },
    learn: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
    parallel: { type: 'string', default: '2' },
  },
});

const common = { processes: 3, learnSeconds: Number(values.learn), seconds: Number(values.seconds) };
const slow = { kind: 'latency', ms: 250 } as const;
const noise = { kind: 'throttle', probability: 0.1, retryAfter: 1 } as const;

const trials: (RateLimitTrial & { least: number; most429?: number })[] = [
  { ...common, name: 'fixed window', limit: 'fixed:20', perSecond: 20, least: 0.85, most429: 0.03 },
  { ...common, name: 'sliding window', limit: 'sliding:20', perSecond: 20, least: 0.85, most429: 0.03 },
  { ...common, name: 'token bucket', limit: 'token:20:20', perSecond: 20, least: 0.85, most429: 0.03 },
  // Five in flight, a quarter of a second each.
  { ...common, name: 'concurrency', limit: 'concurrency:5', perSecond: 20, faults: [slow], least: 0.85, most429: 0.03 },
  { ...common, name: '10 % random 429s', limit: 'token:20:20', perSecond: 20, faults: [noise], least: 0.5 },
];

/** Three processes before each kind of limit, after a minute of learning (`--learn`) for three more (`--seconds`). */
async function main(): Promise<void> {
  const chosen = trials.filter((trial) => trial.name.includes(values.only));
  const left = [...chosen];
  const rows: string[][] = [];
  let short = 0;
  const priority = async (): Promise<void> => {
    for (let trial = left.shift(); trial !== undefined; trial = left.shift()) {
      const result = await tryRateLimit(trial);
      const verdicts = judge(trial, result);
      short += verdicts.filter((verdict) => !verdict.good).length;
      rows.push([trial.name, trial.limit, ...verdicts.map((verdict) => verdict.text), result.calls.join(' ')]);
      process.stderr.write(`${trial.name}: ${JSON.stringify(result)}\n`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.parallel) }, priority));
  const heads = ['', 'limit', '429 share', 'of the limit', 'live wait p99', 'calls by process'];
  process.stdout.write(`${renderTable(heads, rows)}\n${short === 0 ? 'all hold' : `${short} FALL SHORT`}\n`);
  process.exitCode = short === 0 ? 0 : 1;
}

function judge(trial: (typeof trials)[number], { share429, throughput, live }: RateLimitResult) {
  const mostWait = 2_000 / trial.perSecond + 250 * (trial.processes - 1);
  // Timers and a busy machine are not the rate limit.
  const most429 = trial.most429 ?? 1;
  const waited = trial.most429 === undefined || live.p99 <= mostWait;
  return [
    verdict(share429 < most429, `${percent(share429)} (< ${percent(most429)})`),
    verdict(throughput >= trial.least, `${percent(throughput)} (>= ${percent(trial.least)})`),
    verdict(waited, `${live.p99} ms of ${live.count}, ${live.apart} apart (<= ${mostWait} ms)`),
  ];
}

function verdict(good: boolean, text: string): { good: boolean; text: string } {
  return { good, text: good ? text : `${text} FALLS SHORT` };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

await main();
