import { parseArgs } from 'node:util';
import { renderTable } from '../../src/cli/command.ts';
import { type BankServer, tuning, validation } from './bank.ts';
import { type Conclusion, conclude } from './conclude.ts';
import { measureCost } from './cost.ts';
import { drawServers } from './drawn.ts';
import { drive, type Told } from './drive.ts';
import { outside } from './outside.ts';

const { values } = parseArgs({
  options: {
    half: { type: 'string', default: 'validation' },
    told: { type: 'string', default: 'exact,none' },
    seeds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    /** Servers of chance: how many, and the seed they are drawn with. */
    draw: { type: 'string', default: '64' },
    drawn: { type: 'string', default: '1' },
    /** Shows only the servers that miss. */
    short: { type: 'boolean', default: false },
    /** What a decision costs, instead of a bank. */
    cost: { type: 'boolean', default: false },
  },
});

const goals = {
  exact: { used: 0.96, refused: 0.005 },
  seconds: { used: 0.96, refused: 0.005 },
  'too long': { used: 0.9, refused: 0.01 },
  none: { used: 0.9, refused: 0.01 },
};
const NOISY_USED = 0.85;

/** Each server of one half of the bank, with and without Retry-After; a row is the mean and the worst of the seeds. */
function main(): void {
  if (values.cost) return showCost();
  const servers = serversOf(values.half).filter(({ name }) => name.includes(values.only));
  const first = values.half === 'validation' ? 9_000 : 100;
  for (const told of values.told.split(',') as Told[]) {
    const began = performance.now();
    const rows = servers.map((server) => {
      const runs = Array.from({ length: Number(values.seeds) }, (_, n) =>
        conclude(server, drive(server, told, first + n)),
      );
      return { server, ...verdictOf(server, told, runs), cells: cellsOf(server, runs) };
    });
    const heads = ['server', 'used %', 'worst', '429 %', 'worst', 'live p50', 'p99 ms', 'followed s', ''];
    const table = rows.map(({ server, verdict, cells }) => [server.name, ...cells, verdict]);
    const shown = values.short ? table.filter((row) => row.at(-1) !== '') : table;
    const quiet = rows.filter(({ isNoisy }) => !isNoisy);
    const good = quiet.filter(({ verdict }) => verdict === '').length;
    process.stdout.write(`\n${values.half} half, Retry-After ${told}\n${renderTable(heads, shown)}\n`);
    process.stdout.write(`${good} of ${quiet.length} without noise meet used and refused; `);
    process.stdout.write(`${((performance.now() - began) / 1000).toFixed(1)} s\n`);
  }
}

function showCost(): void {
  const rows = measureCost().map(({ what, us, most }) => [what, us.toFixed(3), most === undefined ? '' : `${most}`]);
  process.stdout.write(`${renderTable(['median of', 'us', 'at most'], rows)}\n`);
}

function serversOf(half: string): readonly BankServer[] {
  if (half === 'drawn') return drawServers(Number(values.drawn), Number(values.draw));
  return { tuning, validation, outside }[half] ?? validation;
}

function verdictOf({ noise, endpointPerSecond }: BankServer, told: Told, runs: Conclusion[]) {
  const isNoisy = noise !== undefined || endpointPerSecond !== undefined;
  const { used, refused } = goals[told];
  const isUsed = mean(runs, 'used') >= (isNoisy ? NOISY_USED : used);
  const isPolite = isNoisy || mean(runs, 'refused') <= refused;
  return { isNoisy, verdict: [isUsed ? '' : 'USED', isPolite ? '' : 'REFUSED'].join(' ').trim() };
}

function cellsOf(server: BankServer, runs: Conclusion[]): string[] {
  const percent = (share: number): string => (share * 100).toFixed(share < 0.1 ? 2 : 1);
  const followed = runs.map(({ followedAfter }) => followedAfter ?? 0);
  return [
    percent(mean(runs, 'used')),
    percent(Math.min(...runs.map(({ used }) => used))),
    percent(mean(runs, 'refused')),
    percent(Math.max(...runs.map(({ refused }) => refused))),
    mean(runs, 'liveP50').toFixed(0),
    `${mean(runs, 'liveP99').toFixed(0)}`,
    server.change === undefined ? '' : followed.map((ms) => (ms / 1000).toFixed(0)).join(' '),
  ];
}

function mean(runs: Conclusion[], key: 'used' | 'refused' | 'liveP50' | 'liveP99'): number {
  return runs.reduce((sum, run) => sum + run[key], 0) / runs.length;
}

main();
