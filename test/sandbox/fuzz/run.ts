/** Fuzzed requests over HTTP, more than CI has time for: `npm run test:fuzz [-- --runs 20000] [--seed N]`. */
import { parseArgs } from 'node:util';
import { fuzzOverHttp } from './over-http.ts';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string' } } });
const began = performance.now();
const { runs, seed, statuses } = await fuzzOverHttp(
  Number(values.runs),
  values.seed === undefined ? undefined : Number(values.seed),
);
const seconds = ((performance.now() - began) / 1000).toFixed(0);
console.log(
  `${String(runs)} fuzzed requests over HTTP in ${seconds} s, seed ${String(seed)}: ${JSON.stringify(statuses)}`,
);
