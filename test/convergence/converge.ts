/** Plays seeds of two-way exchange until one does not converge: `npm run test:convergence [-- --seeds N --from N]`. */
import { parseArgs } from 'node:util';
import { playSeed } from './play-seed.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, from: { type: 'string', default: '1' } },
});
const [from, seeds] = [Number(values.from), Number(values.seeds)];
const began = performance.now();
const sums = { edits: 0, writes: 0, kills: 0 };
let failed = 0;
for (let seed = from; seed < from + seeds && failed === 0; seed += 1) {
  const { violations, edits, writes, kills } = await playSeed(seed);
  sums.edits += edits;
  sums.writes += writes;
  sums.kills += kills;
  for (const text of violations) console.log(`seed ${seed}: ${text}`);
  if (violations.length > 0) failed += 1;
}
const seconds = ((performance.now() - began) / 1000).toFixed(0);
const { edits, writes, kills } = sums;
const share = (writes / edits).toFixed(2);
console.log(`${edits} edits, ${writes} values written (${share} an edit), ${kills} processes killed, ${seconds} s`);
console.log(failed === 0 ? `${seeds} seeds converged` : `seed ${from + seeds} not reached: one did not converge`);
process.exitCode = failed === 0 ? 0 : 1;
