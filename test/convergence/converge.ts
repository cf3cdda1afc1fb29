/**
 * Plays seeds of two-way exchange: `npm run test:convergence [-- --seeds N --from N --go-on]`. It ends at the first
 * seed that does not converge, or with --go-on plays the others too. A line every fifty seeds says how far it is.
 */
import { parseArgs } from 'node:util';
import { playSeed } from './play-seed.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    'go-on': { type: 'boolean', default: false },
  },
});
const [from, seeds] = [Number(values.from), Number(values.seeds)];
const REPORT_EVERY = 50;
const began = performance.now();
const sums = { edits: 0, writes: 0, kills: 0, freezes: 0 };
const failed: number[] = [];
let next = from;
while (next < from + seeds && (values['go-on'] || failed.length === 0)) {
  const { violations, ...played } = await playSeed(next);
  for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += played[key];
  for (const text of violations) console.log(`seed ${next}: ${text}`);
  if (violations.length > 0) failed.push(next);
  next += 1;
  if ((next - from) % REPORT_EVERY === 0) report();
}
report();
console.log(failed.length === 0 ? `${next - from} seeds converged` : `not converged: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

function report(): void {
  const { edits, writes, kills, freezes } = sums;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const share = (writes / edits).toFixed(2);
  console.log(
    `seeds ${from} to ${next - 1}: ${edits} edits, ${writes} values written (${share} an edit), ` +
      `${kills} processes killed, ${freezes} stood still, ${seconds} s`,
  );
}
